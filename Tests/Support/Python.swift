import Foundation

/// The Python that `make test` has prepared, with packages that read what we write as others do.
package enum Python {
  private static let path = ProcessInfo.processInfo.environment["KITH_TEST_PYTHON"]

  package static var isThere: Bool { path != nil }

  /// Runs a program and says what it printed.
  ///
  /// - Throws: ``Unexpected`` with what it printed when it failed.
  package static func run(_ program: String, input: String = "", arguments: [String] = []) async throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kith-python-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // `try?`: what cannot be removed is the system's to remove.
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "program.py")
    let stdin = folder.appending(path: "input")
    try Data(("import sys; sys.stdin = open(\(quoted(stdin.path)))\n" + program).utf8).write(to: file)
    try Data(input.utf8).write(to: stdin)
    let child = try Child([path ?? "python3", file.path] + arguments, output: folder.appending(path: "output").path)
    let code = await child.end()
    guard code == 0 else { throw Unexpected(reply: child.printed()) }
    return child.printed()
  }

  private static func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }
}
