import Database
import Foundation
import Hummingbird
import Synchronization
import Wire

/// Whether a process is serving or draining, and since when.
package final class Lifecycle: Sendable {
  package let startedAt = ContinuousClock.now
  private let draining = Atomic(false)

  package init() {}

  /// True after SIGTERM: responses have `Connection: close`, and readiness fails.
  package var isDraining: Bool { draining.load(ordering: .relaxed) }

  package func drain() { draining.store(true, ordering: .relaxed) }

  package var uptimeSeconds: Int { Int((ContinuousClock.now - startedAt).components.seconds) }
}

/// The body of `/health`, with the members that the health checks of all clients read.
package struct Health: Codable, Sendable {
  package let status: String
  package let version: String
  package let environment: String
  package let uptime: Int
  package let timestamp: Date
  package let database: Bool
  package var services: [String: String]?

  package init(
    isHealthy: Bool, environment: Settings.Stage, lifecycle: Lifecycle, database: Bool, at now: Date,
    services: [String: String]? = nil
  ) {
    self.status = isHealthy ? "ok" : "unavailable"
    self.version = Kith.version
    self.environment = environment.rawValue
    self.uptime = lifecycle.uptimeSeconds
    self.timestamp = now
    self.database = database
    self.services = services
  }
}

/// ``Health`` with what a service adds to it.
private struct DetailedHealth: Encodable {
  let health: Health
  let details: [String: JSONValue]

  func encode(to encoder: any Encoder) throws {
    try health.encode(to: encoder)
    try details.encode(to: encoder)
  }
}

package enum Kith {
  package static let version = "0.1.0"
}

/// `/health`, `/health/live` and `/health/ready`.
struct HealthRoutes: Sendable {
  let database: any Database
  let lifecycle: Lifecycle
  let stage: Settings.Stage
  let now: @Sendable () -> Date
  /// Further conditions for readiness.
  let isReady: @Sendable () async -> Bool
  /// Further members of the body of `/health`.
  let details: @Sendable () -> [String: JSONValue]

  func add(to routes: HTTPRoutes) {
    routes.get("/health", use: health)
    routes.get("/health/live") { _, _ in Response.json(["status": "ok"]) }
    routes.get("/health/ready", use: ready)
  }

  @Sendable private func health(_ request: Request, _ context: Context) async -> Response {
    let reached = await reachesDatabase()
    let health = Health(
      isHealthy: reached, environment: stage, lifecycle: lifecycle, database: reached, at: now())
    return Self.response(DetailedHealth(health: health, details: details()), isHealthy: reached)
  }

  @Sendable private func ready(_ request: Request, _ context: Context) async -> Response {
    var ready = !lifecycle.isDraining
    if ready { ready = await isReady() }
    if ready { ready = await reachesDatabase() }
    return Self.response(["status": ready ? "ok" : "unavailable"], isHealthy: ready)
  }

  private static func response(_ state: some Encodable, isHealthy: Bool) -> Response {
    var response = Response.json(state, status: isHealthy ? .ok : .serviceUnavailable)
    if !isHealthy { response.headers[.retryAfter] = "1" }
    return response
  }

  private func reachesDatabase() async -> Bool {
    do {
      return try await database.readOnce { try $0.row("select 1 as one")?.get("one", as: Int.self) == 1 }
    } catch { return false }
  }
}
