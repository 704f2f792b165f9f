import Database
import Foundation
import Testing

/// An executable of this package in its own process.
package struct KithProcess: Sendable {
  package let child: ChildProcess
  package let gateway: Browser
  package let credits: Browser
  package let environment: [String: String]

  /// Starts `kith`, which runs all services in one process, on free ports, and waits until it is healthy. A port that
  /// was free may be taken by a connection of another test; it is then started again on other ports.
  package static func start(
    in testDatabase: TestDatabase, _ overrides: [String: String] = [:]
  ) async throws -> KithProcess {
    for _ in 0..<5 {
      let process = try launch("kith", environment(testDatabase).merging(overrides) { $1 }, in: testDatabase)
      var isTaken = false
      try await eventually("health; it printed: \(process.child.printed())", within: .seconds(240)) {
        isTaken = process.child.printed().contains("is in use by another program")
        return isTaken ? true : await process.isHealthy(at: "/health")
      }
      guard isTaken else { return process }
      _ = await process.child.end()
    }
    throw Unexpected(reply: "no free ports")
  }

  package static func environment(_ testDatabase: TestDatabase) throws -> [String: String] {
    testDatabase.settings.merging([
      "PORT": String(try freePort()), "AUTH_PORT": String(try freePort()), "CREDITS_PORT": String(try freePort()),
      "INVITES_PORT": String(try freePort()), "GROUPS_PORT": String(try freePort()),
      "LISTS_PORT": String(try freePort()), "EVENTS_PORT": String(try freePort()),
      "ADVENTURES_PORT": String(try freePort()), "TIMEPOINTS_PORT": String(try freePort()),
      "DATA_KEYS": "test:data key for tests 0123456789 abcdefghij",
      "JWT_SECRET_KEY": "a test secret that is long enough 0123456789", "ADMIN_API_KEY": TestStack.adminKey,
      "SERVICE_KEYS": TestStack.keys.sorted { $0.key < $1.key }.map { "\($0):\($1)" }.joined(separator: ","),
    ]) { $1 }
  }

  /// Starts an executable without waiting until it is healthy.
  ///
  /// - Parameter wrapper: a command that runs the executable.
  package static func launch(
    _ name: String, _ environment: [String: String], in testDatabase: TestDatabase, wrapper: [String] = [],
    arguments: [String] = []
  ) throws -> KithProcess {
    let output = testDatabase.folder.appendingPathComponent("\(name)-\(UUID().uuidString).log").path
    let child = try ChildProcess(wrapper + [executable(name)] + arguments, environment: environment, output: output)
    return KithProcess(
      child: child, gateway: Browser("http://127.0.0.1:\(environment["PORT"] ?? "")"),
      credits: Browser("http://127.0.0.1:\(environment["CREDITS_PORT"] ?? "")"), environment: environment)
  }

  package func healthy(_ path: String = "/health") async throws {
    try await eventually("health; it printed: \(child.printed())", within: .seconds(240)) {
      await isHealthy(at: path)
    }
  }

  private func isHealthy(at path: String) async -> Bool {
    do { return try await gateway.get(path).status == 200 } catch { return false }
  }

  /// Sends SIGTERM and returns the exit code. A process that does not stop is a failure of the test.
  package func stop() async -> Int32 {
    child.signal(SIGTERM)
    let code = await child.end(within: .seconds(180))
    if code == 128 + SIGKILL { Issue.record("it did not stop; it printed: \(child.printed().suffix(2000))") }
    return code
  }

  package func kill() async {
    child.signal(SIGKILL)
    _ = await child.end()
  }
}
