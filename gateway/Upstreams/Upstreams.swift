import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Web

/// The addresses of every service and how each one is: resolved again every few seconds, asked every second.
/// ``EndpointHealth`` says what follows from it.
final class Upstreams: Service {
  private struct State {
    var endpoints: [ServiceName: [Endpoint]] = [:]
    /// What names were resolved to.
    var resolved: [UpstreamURL: [SocketAddress]] = [:]
    /// Of the neighbours' URLs when the endpoints were laid out.
    var laidOut = -1
  }

  private let neighbours: Neighbours
  private let logger: Logger
  private let probing: Probing
  private let resolveEvery: Duration
  private let resolve: @Sendable (UpstreamURL) async -> [SocketAddress]?
  private let state = Mutex(State())
  private let version = Atomic(0)
  private let startedAt = ContinuousClock.now

  init(
    _ neighbours: Neighbours, logger: Logger, probing: Probing = Probing(),
    resolveEvery: Duration = .seconds(5),
    resolve: @escaping @Sendable (UpstreamURL) async -> [SocketAddress]? = resolved
  ) {
    self.neighbours = neighbours
    self.logger = logger
    self.probing = probing
    self.resolveEvery = resolveEvery
    self.resolve = resolve
  }

  /// Changes whenever ``endpoints(of:)`` may.
  var generation: Int { version.load(ordering: .relaxed) &+ neighbours.version }

  func endpoints(of service: ServiceName) -> [Endpoint] {
    state.withLock { state in
      layOut(&state)
      return state.endpoints[service] ?? []
    }
  }

  /// The worst news first: what ``GatewayHealth`` and the metrics tell.
  var all: [Endpoint] {
    state.withLock { state in
      layOut(&state)
      return ServiceName.allCases.flatMap { state.endpoints[$0] ?? [] }
    }
  }

  func run() async throws {
    await cancelWhenGracefulShutdown { [self] in
      await resolveNames()
      await withDiscardingTaskGroup { group in
        group.addTask { [self] in await resolveAgain() }
        while !Task.isCancelled {
          // Each at its own pace: one that is slow to answer holds up nobody's probe but its own next.
          for endpoint in all where endpoint.beginProbe() {
            group.addTask { [self] in
              await probe(endpoint)
              endpoint.endProbe()
            }
          }
          // `try?`: cancelled means stop.
          try? await Task.sleep(for: probing.every)
        }
      }
    }
  }

  // MARK: Names

  private func layOut(_ state: inout State) {
    let wanted = neighbours.version
    guard state.laidOut != wanted else { return }
    state.laidOut = wanted
    for service in ServiceName.allCases {
      let known = state.endpoints[service] ?? []
      var laid: [Endpoint] = []
      for url in neighbours.urls(of: service).compactMap({ UpstreamURL($0) }) {
        for address in addresses(of: url, state) where !laid.contains(where: { $0.isSame(as: url, address) }) {
          laid.append(known.first { $0.isSame(as: url, address) } ?? Endpoint(service, url, address))
        }
      }
      state.endpoints[service] = laid
    }
  }

  private func addresses(of url: UpstreamURL, _ state: State) -> [SocketAddress?] {
    if let literal = url.literal { return [literal] }
    return state.resolved[url].flatMap { $0.isEmpty ? nil : $0 } ?? [nil]
  }

  private func resolveAgain() async {
    while !Task.isCancelled {
      // `try?`: cancelled means stop.
      try? await Task.sleep(for: resolveEvery)
      await resolveNames()
    }
  }

  /// Resolves every name once more. A resolver that is away changes nothing.
  private func resolveNames() async {
    let names = ServiceName.allCases.flatMap { neighbours.urls(of: $0) }.compactMap { UpstreamURL($0) }
      .filter { $0.literal == nil }
    guard !names.isEmpty else { return }
    var changed = false
    for url in Set(names) {
      guard let addresses = await resolve(url), !addresses.isEmpty else { continue }
      let isNew = state.withLock { state in
        guard Set(state.resolved[url] ?? []) != Set(addresses) else { return false }
        state.resolved[url] = addresses
        state.laidOut = -1
        return true
      }
      changed = changed || isNew
      if isNew {
        logger.info("resolved", metadata: ["host": "\(url.host)", "addresses": .stringConvertible(addresses.count)])
      }
    }
    if changed { version.add(1, ordering: .relaxed) }
  }

  /// Asks the system's resolver, which blocks, on a thread of its own.
  static let resolved: @Sendable (UpstreamURL) async -> [SocketAddress]? = { url in
    // `try?`: a resolver that fails is one that says nothing new.
    try? await NIOThreadPool.singleton.runIfActive { try SocketAddress.all(of: url.host, port: url.port) }
  }

  // MARK: Probes

  private func probe(_ endpoint: Endpoint) async {
    let before = endpoint.standing
    let event = await probing.ask(endpoint)
    guard !Task.isCancelled else { return }
    endpoint.note(event)
    let (now, level) = (endpoint.standing, level(of: endpoint))
    // What was no news while everything started is, when it stays so.
    let wasWarnedOf = endpoint.isWarnedOf.exchange(level == .warning, ordering: .relaxed)
    guard before != now || wasWarnedOf != (level == .warning) else { return }
    logger.log(
      level: level, "upstream",
      metadata: ["service": "\(endpoint.service.rawValue)", "host": "\(endpoint.url.authority)", "standing": "\(now)"])
  }

  /// What has not been there yet is worth no warning for as long as everything starts.
  private func level(of endpoint: Endpoint) -> Logger.Level {
    if endpoint.standing == .ready { return .info }
    let isStarting = ContinuousClock.now - startedAt < probing.quietFor && !endpoint.hasBeenReady
    return isStarting ? .debug : .warning
  }
}
