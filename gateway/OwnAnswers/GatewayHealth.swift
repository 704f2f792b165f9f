import Foundation
import Web
import Wire

/// The health of everything behind the gateway, asked for at most once a second.
actor GatewayHealth {
  /// The best first.
  enum State: String, Comparable {
    case ok
    /// It lives and takes long to say so; whoever leaves it alone because of that does not help it.
    case slow
    case unavailable

    private var rank: Int { self == .ok ? 0 : self == .slow ? 1 : 2 }

    static func < (left: State, right: State) -> Bool { left.rank < right.rank }
  }

  private let upstreams: Upstreams
  private let neighbours: Neighbours
  private let stage: Settings.Stage
  private let lifecycle: Lifecycle
  private let now: @Sendable () -> Date
  private var kept: (health: Health, until: ContinuousClock.Instant)?
  private var underWay: Task<Health, Never>?
  /// Who asks must not wait long; what takes longer is slow, if it is known to live.
  private static let probing = Probing(patience: .milliseconds(900))

  init(
    _ upstreams: Upstreams, _ neighbours: Neighbours, stage: Settings.Stage, lifecycle: Lifecycle,
    now: @escaping @Sendable () -> Date
  ) {
    self.upstreams = upstreams
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
    let states = await withTaskGroup(of: (ServiceName, State).self) { [neighbours, upstreams] group in
      for service in neighbours.present {
        let endpoints = upstreams.endpoints(of: service)
        group.addTask { (service, await Self.state(of: endpoints)) }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    let isWell = !states.values.contains(.unavailable) && !lifecycle.isDraining
    var services: [String: String] = [:]
    for (service, state) in states { services[service.rawValue] = state.rawValue }
    return Health(
      isHealthy: isWell, environment: stage, lifecycle: lifecycle, database: isWell, at: now(), services: services)
  }

  /// A service is as well as the best of its addresses.
  private static func state(of endpoints: [Endpoint]) async -> State {
    await withTaskGroup(of: State.self) { group in
      for endpoint in endpoints { group.addTask { await state(of: endpoint) } }
      var best = State.unavailable
      for await state in group {
        best = min(best, state)
        if best == .ok { group.cancelAll() }
      }
      return best
    }
  }

  private static func state(of endpoint: Endpoint) async -> State {
    switch await probing.ask(endpoint) {
    case .answered(let isReady, _): isReady ? .ok : .unavailable
    case .unreachable: .unavailable
    case .silent, .lateConnection, .connected: endpoint.isKnownToLive ? .slow : .unavailable
    }
  }
}
