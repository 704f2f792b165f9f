import NIOCore
import Synchronization
import Web

/// One address of a service with its health, which all event loops share.
final class Endpoint: Sendable {
  let service: ServiceName
  let url: UpstreamURL
  /// nil while the name has not been resolved yet.
  let address: SocketAddress?
  private let health = Mutex(EndpointHealth())
  /// The status of `health`, which every request reads without locking.
  private let cachedStatus = Atomic(EndpointHealth().status.rawValue)
  private let hasFailedConnects = Atomic(false)
  private let isProbing = Atomic(false)
  /// Whether its present status has been logged as a warning.
  let hasLoggedWarning = Atomic(false)
  /// Sent when the status has changed.
  private let changes: ChangeSignal

  init(_ service: ServiceName, _ url: UpstreamURL, _ address: SocketAddress?, changes: ChangeSignal = ChangeSignal()) {
    self.service = service
    self.url = url
    self.address = address
    self.changes = changes
  }

  var status: EndpointHealth.Status {
    EndpointHealth.Status(rawValue: cachedStatus.load(ordering: .relaxed)) ?? .ready
  }

  /// Whether it answers probes late or not at all.
  var isSlow: Bool { health.withLock { $0.isSlow } }

  /// Whether it is ready and has answered its last probe in time.
  var isWell: Bool { health.withLock { $0.hasBeenReady && $0.status == .ready && !$0.isSlow } }

  /// Whether it has ever answered a probe with "ready".
  var hasBeenReady: Bool { health.withLock { $0.hasBeenReady } }

  /// Whether it has ever answered a probe and is not excluded now.
  var isKnownAlive: Bool { health.withLock { $0.hasAnswered && !$0.status.isExcluded } }

  func record(_ event: EndpointHealth.Event) {
    // Connections are made all the time and rarely change the status.
    if event == .connected, !hasFailedConnects.load(ordering: .relaxed) { return }
    let hasChanged = health.withLock { health in
      let before = health.status
      health.record(event)
      cachedStatus.store(health.status.rawValue, ordering: .relaxed)
      hasFailedConnects.store(health.hasFailedConnects, ordering: .relaxed)
      return health.status != before
    }
    if hasChanged { changes.send() }
  }

  /// - Returns: false while another probe is in flight.
  func beginProbe() -> Bool { isProbing.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged }

  func endProbe() { isProbing.store(false, ordering: .relaxed) }

  func matches(_ url: UpstreamURL, _ address: SocketAddress?) -> Bool { self.url == url && self.address == address }
}

/// The base URL of a service, from `AUTH_URL` and the variables of the other services.
struct UpstreamURL: Sendable, Hashable {
  /// The path of a Unix socket; nil for a host and a port.
  let socketPath: String?
  let host: String
  let port: Int
  let isTLS: Bool

  /// nil for text that is neither `http://host[:port]` nor `https://host[:port]` nor a ``SocketURL``. A path is ignored.
  init?(_ text: String) {
    socketPath = SocketURL.path(in: text)
    if let socketPath {
      (host, port, isTLS) = (SocketURL.host, 80, false)
      // `try?`: a path that is too long has no socket.
      guard (try? SocketAddress(unixDomainSocketPath: socketPath)) != nil else { return nil }
      return
    }
    isTLS = text.hasPrefix("https://")
    guard isTLS || text.hasPrefix("http://") else { return nil }
    let authority = text.dropFirst(isTLS ? 8 : 7).prefix { $0 != "/" }
    let fallback = isTLS ? 443 : 80
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      host = String(authority[..<end].dropFirst())
      let rest = authority[end...].dropFirst()
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      guard let port = rest.isEmpty ? fallback : Int(rest.dropFirst()) else { return nil }
      self.port = port
    } else {
      let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first, !name.isEmpty else { return nil }
      guard let port = parts.count == 1 ? fallback : Int(parts[1]) else { return nil }
      host = String(name)
      self.port = port
    }
    guard (1...65_535).contains(port), !host.isEmpty else { return nil }
  }

  /// The address when the host is one, so that no resolver is needed.
  var literalAddress: SocketAddress? {
    // `try?`: a host that is not an address is a name, and the length of a path has been checked.
    if let socketPath { return try? SocketAddress(unixDomainSocketPath: socketPath) }
    return try? SocketAddress(ipAddress: host, port: port)
  }

  /// The value of `Host`.
  var authority: String { socketPath == nil ? (host.contains(":") ? "[\(host)]" : host) + ":\(port)" : host }

  /// The name in logs and metrics.
  var name: String { socketPath ?? authority }
}
