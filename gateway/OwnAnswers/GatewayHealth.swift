import AsyncHTTPClient
import Clients
import Foundation
import Web
import Wire

/// The health of everything behind the gateway, asked for at most once a second.
actor GatewayHealth {
  private let neighbours: Neighbours
  private let stage: Settings.Stage
  private let lifecycle: Lifecycle
  private let now: @Sendable () -> Date
  private var kept: (health: Health, until: ContinuousClock.Instant)?
  private var underWay: Task<Health, Never>?

  init(_ neighbours: Neighbours, stage: Settings.Stage, lifecycle: Lifecycle, now: @escaping @Sendable () -> Date) {
    self.neighbours = neighbours
    self.stage = stage
    self.lifecycle = lifecycle
    self.now = now
  }

  /// How everything is.
  func health() async -> Health {
    if let kept, ContinuousClock.now < kept.until { return kept.health }
    if let underWay { return await underWay.value }
    let task = Task { await ask() }
    underWay = task
    let health = await task.value
    underWay = nil
    // Good news keeps for a second; bad news hardly, so that a start or a repair shows at once.
    kept = (health, .now + (health.database ? .seconds(1) : .milliseconds(50)))
    return health
  }

  private func ask() async -> Health {
    let states = await withTaskGroup(of: (ServiceName, Bool).self) { [neighbours] group in
      for service in neighbours.present {
        group.addTask { (service, await Self.isWell(service, neighbours)) }
      }
      var states: [ServiceName: Bool] = [:]
      for await (service, isWell) in group { states[service] = isWell }
      return states
    }
    let isWell = states.values.allSatisfy { $0 } && !lifecycle.isDraining
    var services: [String: String] = [:]
    for (service, well) in states { services[service.rawValue] = well ? "ok" : "unavailable" }
    return Health(
      isHealthy: isWell, environment: stage, lifecycle: lifecycle, database: isWell, at: now(), services: services)
  }

  private static func isWell(_ service: ServiceName, _ neighbours: Neighbours) async -> Bool {
    for url in neighbours.urls(of: service) {
      do {
        let response = try await Outbound.http.execute(
          HTTPClientRequest(url: url + "/health/ready"), timeout: .milliseconds(900))
        _ = try await response.body.collect(upTo: 64 * 1024)
        if response.status == .ok { return true }
      } catch { continue }
    }
    return false
  }
}
