import Foundation

/// The Python interpreter that `make test` has set up, with packages for checking output against other implementations.
package enum Python {
  private static let path = ProcessInfo.processInfo.environment["KITH_TEST_PYTHON"]

  package static var isAvailable: Bool { path != nil }

  /// Runs a program and returns its output.
  ///
  /// - Throws: ``Unexpected`` with its output when it failed.
  package static func run(_ program: String, input: String = "", arguments: [String] = []) async throws -> String {
    let (code, printed) = try await outcome(of: program, input: input, arguments: arguments)
    guard code == 0 else { throw Unexpected(reply: printed) }
    return printed
  }

  /// The same with the exit code, for programs that are expected to fail.
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
  /// - Parameter variables: environment variables in addition to those of this process.
  package static func outcome(
    ofModule module: String, _ arguments: [String], variables: [String: String]
  ) async throws -> (code: Int32, printed: String) {
    try await withFolder { folder in
      var environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
      // Otherwise Hypothesis writes to the working directory.
      environment["HYPOTHESIS_STORAGE_DIRECTORY"] = folder.appending(path: "hypothesis").path
      return try await ended(["-m", module] + arguments, in: folder, environment)
    }
  }

  /// Starts a program that runs beside the test.
  package static func start(_ file: String, _ arguments: [String], output: String) throws -> ChildProcess {
    try ChildProcess([path ?? "python3", file] + arguments, output: output)
  }

  /// The source of a program in `Tests/Python`.
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
    let child = try ChildProcess([path ?? "python3"] + arguments, environment: environment, output: output)
    return (await child.end(), child.printed())
  }

  private static func withFolder<T>(_ body: (URL) async throws -> T) async throws -> T {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kith-python-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // `try?`: a leftover folder does no harm.
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
  }

  private static func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }
}
