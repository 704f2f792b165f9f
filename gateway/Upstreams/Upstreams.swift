import AsyncHTTPClient
import Clients
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Web

/// The addresses of every service and how each one is: resolved again every few seconds, asked every second.
///
/// An endpoint is out as soon as a connection to it fails, and back when it answers a probe. One that says it is not
/// ready (it is stopping, or its database is away) gets requests only while no other one is.
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
  private let probeEvery: Duration
  private let resolveEvery: Duration
  private let resolve: @Sendable (UpstreamURL) async -> [SocketAddress]?
  private let state = Mutex(State())
  private let version = Atomic(0)
  private let madeAt = ContinuousClock.now
  /// How long services may take to start, in whichever order they are started.
  private static let startSeconds = Duration.seconds(60)

  init(
    _ neighbours: Neighbours, logger: Logger, probeEvery: Duration = .seconds(1),
    resolveEvery: Duration = .seconds(5),
    resolve: @escaping @Sendable (UpstreamURL) async -> [SocketAddress]? = resolved
  ) {
    self.neighbours = neighbours
    self.logger = logger
    self.probeEvery = probeEvery
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
      var resolvedAt: ContinuousClock.Instant?
      while !Task.isCancelled {
        if resolvedAt.map({ ContinuousClock.now - $0 >= resolveEvery }) ?? true {
          await resolveNames()
          resolvedAt = .now
        }
        await probe()
        // `try?`: cancelled means stop.
        try? await Task.sleep(for: probeEvery)
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

  private func probe() async {
    let endpoints = all
    let isStarting = ContinuousClock.now - madeAt < Self.startSeconds
    await withTaskGroup(of: Void.self) { group in
      for endpoint in endpoints { group.addTask { [logger] in await Self.probe(endpoint, isStarting, logger) } }
    }
  }

  private static func probe(_ endpoint: Endpoint, _ isStarting: Bool, _ logger: Logger) async {
    let now = await standing(of: endpoint)
    guard !Task.isCancelled else { return }
    endpoint.stands(now)
    guard endpoint.isNews(now, whileStarting: isStarting) else { return }
    logger.log(
      level: now == .ready ? .info : .warning, "upstream",
      metadata: ["service": "\(endpoint.service.rawValue)", "host": "\(endpoint.url.authority)", "standing": "\(now)"])
  }

  private static func standing(of endpoint: Endpoint) async -> Endpoint.Standing {
    let url = endpoint.url
    var authority = url.authority
    if let address = endpoint.address?.ipAddress, !url.isTLS {
      authority = (address.contains(":") ? "[\(address)]" : address) + ":\(url.port)"
    }
    var request = HTTPClientRequest(url: "\(url.isTLS ? "https" : "http")://\(authority)/health/ready")
    request.headers.replaceOrAdd(name: "host", value: url.authority)
    do {
      let response = try await Outbound.http.execute(request, timeout: .milliseconds(900))
      _ = try await response.body.collect(upTo: 64 * 1024)
      return response.status == .ok ? .ready : .unready
    } catch { return .out }
  }
}
