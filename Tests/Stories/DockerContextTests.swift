import Foundation
import Support
import Testing

/// The build stage of the Dockerfile has what it builds, although `.dockerignore` leaves out most of the rest.
@Suite struct DockerContextTests {
  private static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func theBuildStageGetsAPackageThatIsWhole() async throws {
    try await withContext { folder in
      for package in ["", "KithClient"] {
        let (code, printed) = try await describe(folder.appending(path: package))
        #expect(code == 0, "\(printed.suffix(500))")
        // A file that a target embeds and that is not there is only a warning.
        #expect(!printed.contains("Invalid "), "\(printed.prefix(500))")
        #expect(printed.contains("Name: \(package.isEmpty ? "kith-timepoints" : package)\n"))
      }
      for name in ["scripts/release", "scripts/release-compiler", "scripts/release-linker"] {
        #expect(FileManager.default.isExecutableFile(atPath: folder.appending(path: name).path), "\(name)")
      }
      for name in [".git", ".build", "docs", "Tests/Fixtures", "README.md"] {
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: name).path), "\(name) is left out")
      }
    }
  }

  /// The premise of the test above.
  @Test(arguments: ["Tests", "Tests/Fuzz", "**/openapi.yaml", "Services/*/Main", "KithClient/Sources"])
  func aFolderThatIsMissingIsFound(pattern: String) async throws {
    try await withContext(leavingOut: pattern) { folder in
      let (code, printed) = try await describe(folder)
      #expect(code != 0 || printed.contains("Invalid "), "\(printed.prefix(500))")
    }
  }

  /// - Parameter pattern: as if it were the last line of `.dockerignore`.
  private func withContext(leavingOut pattern: String = "", _ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kith-context-\(UUID())")
    // `try?`: a leftover folder does no harm.
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try await Python.run(
      try Python.script("docker_context"), arguments: [Self.project.path, folder.path, pattern])
    try await body(folder)
  }

  /// Has SwiftPM read the package as it does before it builds. Neither the dependencies nor the folder of builds, which
  /// the process of the tests may have locked, are needed for that.
  private func describe(_ package: URL) async throws -> (code: Int32, printed: String) {
    let output = FileManager.default.temporaryDirectory.appending(path: "kith-context-\(UUID()).log").path
    defer { unlink(output) }
    let child = try ChildProcess(
      ["swift", "package", "--package-path", package.path, "--scratch-path", "\(output).build", "describe"],
      output: output)
    return (await child.end(), child.printed())
  }
}
