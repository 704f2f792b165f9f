import Foundation

/// The Python that `make test` has prepared, with packages that read what we write as others do.
package enum Python {
  private static let path = ProcessInfo.processInfo.environment["KITH_TEST_PYTHON"]

  package static var isThere: Bool { path != nil }

  /// Runs a program and says what it printed.
  ///
  /// - Throws: ``Unexpected`` with what it printed when it failed.
  package static func run(_ program: String, input: String = "", arguments: [String] = []) async throws -> String {
    let (code, printed) = try await outcome(of: program, input: input, arguments: arguments)
    guard code == 0 else { throw Unexpected(reply: printed) }
    return printed
  }

  /// The same with the exit code, for programs whose failure is an answer.
  package static func outcome(
    of program: String, input: String = "", arguments: [String] = []
  ) async throws -> (code: Int32, printed: String) {
    try await withFolder { folder in
      let file = folder.appending(path: "program.py")
      let stdin = folder.appending(path: "input")
      try Data(("import sys; sys.stdin = open(\(quoted(stdin.path)))\n" + program).utf8).write(to: file)
      try Data(input.utf8).write(to: stdin)
      return try await ended([file.path] + arguments, in: folder)
    }
  }

  /// Runs a module of a package, as `python -m` does.
  ///
  /// - Parameter variables: of its environment, besides those that this process has.
  package static func outcome(
    ofModule module: String, _ arguments: [String], variables: [String: String]
  ) async throws -> (code: Int32, printed: String) {
    try await withFolder { folder in
      var environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
      // Hypothesis writes where it is started otherwise.
      environment["HYPOTHESIS_STORAGE_DIRECTORY"] = folder.appending(path: "hypothesis").path
      return try await ended(["-m", module] + arguments, in: folder, environment)
    }
  }

  /// A program of ours that lies under `Tests/Python`.
  package static func script(_ name: String) throws -> String {
    try String(contentsOf: file("\(name).py"), encoding: .utf8)
  }

  package static func file(_ name: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Python/\(name)")
  }

  private static func ended(
    _ arguments: [String], in folder: URL, _ environment: [String: String]? = nil
  ) async throws -> (code: Int32, printed: String) {
    let output = folder.appending(path: "output").path
    let child = try Child([path ?? "python3"] + arguments, environment: environment, output: output)
    return (await child.end(), child.printed())
  }

  private static func withFolder<T>(_ body: (URL) async throws -> T) async throws -> T {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kith-python-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // `try?`: what cannot be removed is the system's to remove.
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
  }

  private static func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }
}
