import Foundation
import Support
import Testing

/// `docker-compose.yml`, as each command of Compose reads it that is installed. `make test-compose` runs it.
@Suite struct ComposeFileTests {
  @Test(arguments: [["docker", "compose"], ["docker-compose"]])
  func theFileIsValidAndWhatIsMissingIsNamed(command: [String]) async throws {
    guard await isInstalled(command) else {
      print("NOTE: `\(command.joined(separator: " "))` is not installed: docker-compose.yml is not checked with it.")
      return
    }
    let check = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Compose/check")
    let output = FileManager.default.temporaryDirectory.appending(path: "kith-compose-\(UUID()).log").path
    defer { unlink(output) }
    // Without the variables of this process, which would take precedence over those of the file.
    let child = try ChildProcess([check.path] + command, environment: [:], output: output)
    let code = await child.end()
    #expect(code == 0, "\(child.printed().suffix(1000))")
  }

  private func isInstalled(_ command: [String]) async -> Bool {
    // `try?`: a command that is not there cannot be started.
    guard let child = try? ChildProcess(command + ["version"]) else { return false }
    return await child.end() == 0
  }
}
