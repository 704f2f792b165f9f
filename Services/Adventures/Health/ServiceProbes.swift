import Clients
import Web

/// Which of the other services are not ready. However many callers there are, each service is probed once at a time, and
/// the result is used for a few seconds.
actor ServiceProbes {
  private let services: [ServiceName]
  private let lifetime: Duration
  private let isReady: @Sendable (ServiceName) async -> Bool
  private var cached: (unready: Set<ServiceName>, until: ContinuousClock.Instant)?
  private var running: Task<Set<ServiceName>, Never>?

  /// How long an answer of a service may take.
  private static let timeout = Duration.seconds(1)

  init(
    of services: [ServiceName], lifetime: Duration = .seconds(5),
    isReady: @escaping @Sendable (ServiceName) async -> Bool
  ) {
    self.services = services
    self.lifetime = lifetime
    self.isReady = isReady
  }

  init(of services: [ServiceName], in dependencies: Dependencies) {
    let clients = Dictionary(services.map { ($0, ReadinessClient($0, in: dependencies)) }) { $1 }
    self.init(of: services) { await clients[$0]?.isReady(within: ServiceProbes.timeout) ?? false }
  }

  func unready() async -> Set<ServiceName> {
    if let cached, cached.until > .now { return cached.unready }
    if let running { return await running.value }
    // Detached: neither the deadline of this caller nor its trace is that of the others who wait for the result.
    let probe = Task.detached { [services, isReady] in await Self.probe(services, isReady) }
    running = probe
    let unready = await probe.value
    cached = (unready, ContinuousClock.now + lifetime)
    running = nil
    return unready
  }

  /// - Returns: those that are not ready.
  private static func probe(
    _ services: [ServiceName], _ isReady: @escaping @Sendable (ServiceName) async -> Bool
  ) async -> Set<ServiceName> {
    await withTaskGroup(of: (ServiceName, Bool).self) { group in
      for service in services { group.addTask { (service, await isReady(service)) } }
      var unready: Set<ServiceName> = []
      for await (service, answered) in group where !answered { unready.insert(service) }
      return unready
    }
  }
}
