import Foundation
import Testing

/// A function in a header is compiled into each Swift file that the optimiser puts a call of it into. With a variable of
/// its own it would have as many: in optimised services the functions of libvips were found in one, and called by
/// another that had none, so that every photo was refused. Builds for tests are not optimised, and work either way.
@Suite struct CHeaderTests {
  private static func variables(_ header: String) -> [String] {
    header.split(separator: "\n").map(String.init).filter { $0.contains(/\bstatic\b/) && !$0.contains("static inline") }
  }

  @Test func noFunctionInAHeaderHasAVariable() throws {
    let shared = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Shared")
    let files = FileManager.default.enumerator(at: shared, includingPropertiesForKeys: nil)
    let headers = try #require(files).compactMap { $0 as? URL }.filter { $0.pathExtension == "h" }
    #expect(headers.count >= 6)
    for header in headers {
      #expect(Self.variables(try String(contentsOf: header, encoding: .utf8)).isEmpty, "\(header.path)")
    }
  }

  /// The premise of the test above.
  @Test func aVariableIsFound() {
    #expect(Self.variables("static inline int f(void) {\n  static int calls;\n  return calls++;\n}").count == 1)
  }
}
