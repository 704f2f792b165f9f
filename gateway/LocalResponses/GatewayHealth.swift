import Foundation
import Web
import Wire

/// The health of all services, cached for a second when all are available and for 50 ms when one is not.
struct GatewayHealth: Sendable {
  /// Ordered from best to worst.
  enum State: String, Comparable {
    case ok
    /// It answers probes late. That is no reason to send its requests elsewhere.
    case slow
    case unavailable

    private var rank: Int { self == .ok ? 0 : self == .slow ? 1 : 2 }

    static func < (left: State, right: State) -> Bool { left.rank < right.rank }
  }

  private let upstreams: Upstreams
  private let serviceAddresses: ServiceAddresses
  private let stage: Settings.Stage
  private let lifecycle: Lifecycle
  private let now: @Sendable () -> Date
  private let cache = CachedValue<Health>()
  /// Short, because callers of `/health` wait for it. A service that does not answer in time is slow if it is known to
  /// be alive, else unavailable.
  private static let healthProbe = HealthProbe(timeout: .milliseconds(900))

  init(
    _ upstreams: Upstreams, _ serviceAddresses: ServiceAddresses, stage: Settings.Stage, lifecycle: Lifecycle,
    now: @escaping @Sendable () -> Date
  ) {
    self.upstreams = upstreams
    self.serviceAddresses = serviceAddresses
    self.stage = stage
    self.lifecycle = lifecycle
    self.now = now
  }

  func health() async -> Health {
    await cache.value {
      let health = await probeAll()
      // Bad health is cached only briefly, so that a start or a repair shows at once.
      return (health, health.database ? .seconds(1) : .milliseconds(50))
    }
  }

  private func probeAll() async -> Health {
    let states = await withTaskGroup(of: (ServiceName, State).self) { [serviceAddresses, upstreams] group in
      for service in serviceAddresses.configured {
        let endpoints = upstreams.endpoints(of: service)
        group.addTask { (service, await Self.state(of: endpoints)) }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    let isHealthy = !states.values.contains(.unavailable) && !lifecycle.isDraining
    var services: [String: String] = [:]
    for (service, state) in states { services[service.rawValue] = state.rawValue }
    return Health(
      isHealthy: isHealthy, environment: stage, lifecycle: lifecycle, database: isHealthy, at: now(),
      services: services)
  }

  /// The state of a service is the best state of its addresses.
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
    switch await healthProbe.event(from: endpoint) {
    case .answered(let isReady, _): isReady ? .ok : .unavailable
    case .unreachable: .unavailable
    case .probeTimeout, .connectTimeout, .connected: endpoint.isKnownAlive ? .slow : .unavailable
    }
  }
}
