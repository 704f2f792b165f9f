import Database
import Foundation

/// A program of this package in a process of its own, as users start it.
package struct KithProcess: Sendable {
  package let child: Child
  package let gateway: Browser
  package let credits: Browser
  package let environment: [String: String]

  /// `kith`, everything in one process, on free ports; returns once it is healthy. Ports that were free when they were
  /// chosen may be taken by another test's connection a moment later: then it is started on others.
  package static func start(in place: Place, _ overrides: [String: String] = [:]) async throws -> KithProcess {
    for _ in 0..<5 {
      let process = try launch("kith", environment(place).merging(overrides) { $1 }, in: place)
      var isTaken = false
      try await eventually("health; it printed: \(process.child.printed())") {
        isTaken = process.child.printed().contains("is in use by another program")
        return isTaken ? true : await process.isHealthy(at: "/health")
      }
      guard isTaken else { return process }
      _ = await process.child.end()
    }
    throw Unexpected(reply: "no free ports")
  }

  package static func environment(_ place: Place) throws -> [String: String] {
    place.settings.merging([
      "PORT": String(try freePort()), "AUTH_PORT": String(try freePort()), "CREDITS_PORT": String(try freePort()),
      "INVITES_PORT": String(try freePort()), "GROUPS_PORT": String(try freePort()),
      "LISTS_PORT": String(try freePort()),
      "DATA_KEYS": "test:data key for tests 0123456789 abcdefghij",
      "JWT_SECRET_KEY": "a test secret that is long enough 0123456789", "ADMIN_API_KEY": TestStack.adminKey,
      "SERVICE_KEYS": TestStack.keys.sorted { $0.key < $1.key }.map { "\($0):\($1)" }.joined(separator: ","),
    ]) { $1 }
  }

  /// Does not wait for anything.
  ///
  /// - Parameter wrapper: a command that runs the program that it is given.
  package static func launch(
    _ name: String, _ environment: [String: String], in place: Place, wrapper: [String] = []
  ) throws -> KithProcess {
    let output = place.folder.appendingPathComponent("\(name)-\(UUID().uuidString).log").path
    let child = try Child(wrapper + [executable(name)], environment: environment, output: output)
    return KithProcess(
      child: child, gateway: Browser("http://127.0.0.1:\(environment["PORT"] ?? "")"),
      credits: Browser("http://127.0.0.1:\(environment["CREDITS_PORT"] ?? "")"), environment: environment)
  }

  package func healthy(_ path: String = "/health") async throws {
    try await eventually("health; it printed: \(child.printed())") { await isHealthy(at: path) }
  }

  private func isHealthy(at path: String) async -> Bool {
    do { return try await gateway.get(path).status == 200 } catch { return false }
  }

  /// SIGTERM, and the exit code.
  package func stop() async -> Int32 {
    child.signal(SIGTERM)
    return await child.end()
  }

  package func kill() async {
    child.signal(SIGKILL)
    _ = await child.end()
  }
}
