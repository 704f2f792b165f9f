import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Web

/// The endpoints of all services: resolves their names every few seconds, every second while one is not well, and
/// probes their health, every second where a probe may matter (``HealthProbe/restInterval``). ``EndpointHealth`` decides
/// which are excluded.
final class Upstreams: Service {
  private struct State {
    var endpoints: [ServiceName: [Endpoint]] = [:]
    /// The addresses of host names.
    var resolvedAddresses: [UpstreamURL: [SocketAddress]] = [:]
    /// The version of the service addresses from which the endpoints were built; -1 when they have to be rebuilt.
    var endpointsVersion = -1
  }

  private let serviceAddresses: ServiceAddresses
  private let logger: Logger
  private let healthProbe: HealthProbe
  private let resolveInterval: Duration
  private let resolve: @Sendable (UpstreamURL) async -> [SocketAddress]?
  private let state = Mutex(State())
  private let version = Atomic(0)
  private let statusChanges = ChangeSignal()
  private let startedAt = ContinuousClock.now

  init(
    _ serviceAddresses: ServiceAddresses, logger: Logger, healthProbe: HealthProbe = HealthProbe(),
    resolveInterval: Duration = .seconds(5),
    resolve: @escaping @Sendable (UpstreamURL) async -> [SocketAddress]? = systemResolver
  ) {
    self.serviceAddresses = serviceAddresses
    self.logger = logger
    self.healthProbe = healthProbe
    self.resolveInterval = resolveInterval
    self.resolve = resolve
  }

  /// Changes whenever ``endpoints(of:)`` may change.
  var generation: Int { version.load(ordering: .relaxed) &+ serviceAddresses.version }

  func endpoints(of service: ServiceName) -> [Endpoint] {
    state.withLock { state in
      rebuildEndpoints(&state)
      return state.endpoints[service] ?? []
    }
  }

  /// The endpoints of all services.
  var all: [Endpoint] {
    state.withLock { state in
      rebuildEndpoints(&state)
      return ServiceName.allCases.flatMap { state.endpoints[$0] ?? [] }
    }
  }

  func run() async throws {
    await cancelWhenGracefulShutdown { [self] in
      await resolveNames()
      await withDiscardingTaskGroup { group in
        group.addTask { [self] in await resolvePeriodically() }
        while !Task.isCancelled {
          let changes = statusChanges.version
          // Probes run concurrently, so that a slow endpoint delays only its own next probe.
          for endpoint in all where endpoint.beginProbe() {
            group.addTask { [self] in
              await probe(endpoint)
              endpoint.endProbe()
            }
          }
          // `try?`: cancellation ends the loop.
          try? await Task.sleep(for: healthProbe.interval)
          if isAtRest {
            await statusChanges.wait(after: changes, atMost: healthProbe.restInterval - healthProbe.interval)
          }
        }
      }
    }
  }

  /// Whether no probe could change where a request is sent: each service has one endpoint, which is well.
  private var isAtRest: Bool {
    let all = all
    return !all.isEmpty && all.allSatisfy(\.isWell) && Set(all.map(\.service)).count == all.count
  }

  // MARK: Names

  private func rebuildEndpoints(_ state: inout State) {
    let version = serviceAddresses.version
    guard state.endpointsVersion != version else { return }
    state.endpointsVersion = version
    for service in ServiceName.allCases {
      let existing = state.endpoints[service] ?? []
      var endpoints: [Endpoint] = []
      for url in serviceAddresses.urls(of: service).compactMap({ UpstreamURL($0) }) {
        for address in addresses(of: url, state) where !endpoints.contains(where: { $0.matches(url, address) }) {
          endpoints.append(
            existing.first { $0.matches(url, address) } ?? Endpoint(service, url, address, changes: statusChanges))
        }
      }
      state.endpoints[service] = endpoints
    }
    // New endpoints are probed at once.
    statusChanges.send()
  }

  private func addresses(of url: UpstreamURL, _ state: State) -> [SocketAddress?] {
    if let literalAddress = url.literalAddress { return [literalAddress] }
    return state.resolvedAddresses[url].flatMap { $0.isEmpty ? nil : $0 } ?? [nil]
  }

  /// As often as endpoints are probed while one is not well: what takes the place of a container has another address,
  /// which may be known later than the end of the one before.
  private func resolvePeriodically() async {
    let least = min(resolveInterval, healthProbe.interval)
    while !Task.isCancelled {
      await waitWhileAllAreWell(until: .now + resolveInterval - least)
      // `try?`: cancellation ends the loop.
      try? await Task.sleep(for: least)
      await resolveNames()
    }
  }

  private func waitWhileAllAreWell(until end: ContinuousClock.Instant) async {
    while !Task.isCancelled {
      let changes = statusChanges.version
      let rest = ContinuousClock.now.duration(to: end)
      guard rest > .zero, all.allSatisfy(\.isWell) else { return }
      await statusChanges.wait(after: changes, atMost: rest)
    }
  }

  /// Resolves every name once. A failed resolution changes nothing.
  private func resolveNames() async {
    let names = ServiceName.allCases.flatMap { serviceAddresses.urls(of: $0) }.compactMap { UpstreamURL($0) }
      .filter { $0.literalAddress == nil }
    guard !names.isEmpty else { return }
    var changed = false
    for url in Set(names) {
      guard let addresses = await resolve(url), !addresses.isEmpty else { continue }
      let hasChanged = state.withLock { state in
        guard Set(state.resolvedAddresses[url] ?? []) != Set(addresses) else { return false }
        state.resolvedAddresses[url] = addresses
        state.endpointsVersion = -1
        return true
      }
      changed = changed || hasChanged
      if hasChanged {
        logger.info("resolved", metadata: ["host": "\(url.host)", "addresses": .stringConvertible(addresses.count)])
      }
    }
    if changed { version.add(1, ordering: .relaxed) }
  }

  /// Calls the system's resolver, which blocks, on a thread pool.
  static let systemResolver: @Sendable (UpstreamURL) async -> [SocketAddress]? = { url in
    // `try?`: a failed resolution changes nothing.
    try? await NIOThreadPool.singleton.runIfActive { try SocketAddress.resolve(url.host, port: url.port) }
  }

  // MARK: Probes

  private func probe(_ endpoint: Endpoint) async {
    let before = endpoint.status
    let event = await healthProbe.event(from: endpoint)
    guard !Task.isCancelled else { return }
    endpoint.record(event)
    let (now, level) = (endpoint.status, level(of: endpoint))
    // A status that was logged at `debug` during the start is logged again as a warning when it persists.
    let hadLoggedWarning = endpoint.hasLoggedWarning.exchange(level == .warning, ordering: .relaxed)
    guard before != now || hadLoggedWarning != (level == .warning) else { return }
    logger.log(
      level: level, "upstream",
      metadata: ["service": "\(endpoint.service.rawValue)", "host": "\(endpoint.url.name)", "standing": "\(now)"])
  }

  /// During the startup grace period an endpoint that has never been ready is logged at `debug`.
  private func level(of endpoint: Endpoint) -> Logger.Level {
    if endpoint.status == .ready { return .info }
    let isStarting = ContinuousClock.now - startedAt < healthProbe.startupGrace && !endpoint.hasBeenReady
    return isStarting ? .debug : .warning
  }
}
