import Adventures
import Database
import Web

extension TestStack {
  /// Runs another process of adventures, with the same database, while `body` runs.
  ///
  /// - Parameter wrapDatabase: wraps the database of that process only.
  package func withAdventures(
    wrapDatabase: @escaping @Sendable (any Database) -> any Database, _ body: (Browser) async throws -> Void
  ) async throws {
    let server = try await buildAdventures(
      Dependencies(
        dependencies(of: "adventures").settings, serviceAddresses: dependencies.serviceAddresses, logger: quiet,
        pollInterval: dependencies.pollInterval, now: dependencies.now, wrapDatabase: wrapDatabase))
    try await running([server]) {
      let browser = Browser("http://127.0.0.1:\(try await server.port.number)")
      try await eventually("adventures") { try await browser.get("/health/ready").status == 200 }
      try await body(browser)
    }
  }
}
