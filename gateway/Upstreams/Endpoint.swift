import NIOCore
import Synchronization
import Web

/// One address of a service, and what the whole gateway knows of it.
final class Endpoint: Sendable {
  let service: ServiceName
  let url: UpstreamURL
  /// nil: a name that nobody has resolved yet.
  let address: SocketAddress?
  private let health = Mutex(EndpointHealth())
  /// What `health` comes to, for every request to read.
  private let stands = Atomic(EndpointHealth().standing.rawValue)
  private let doubted = Atomic(false)
  private let probing = Atomic(false)
  /// Whether the log has a warning of how it stands.
  let isWarnedOf = Atomic(false)

  init(_ service: ServiceName, _ url: UpstreamURL, _ address: SocketAddress?) {
    self.service = service
    self.url = url
    self.address = address
  }

  var standing: EndpointHealth.Standing {
    EndpointHealth.Standing(rawValue: stands.load(ordering: .relaxed)) ?? .ready
  }

  /// Whether its answers to probes come late, or not at all.
  var isSlow: Bool { health.withLock { $0.isSlow } }

  /// Whether it has answered a probe that it is ready, ever.
  var hasBeenReady: Bool { health.withLock { $0.hasBeenReady } }

  /// Whether it has answered a probe at all, and has not been found down since.
  var isKnownToLive: Bool { health.withLock { $0.hasAnswered && !$0.standing.isOut } }

  func note(_ event: EndpointHealth.Event) {
    // Connections are made all the time, and hardly ever say anything new.
    if event == .connected, !doubted.load(ordering: .relaxed) { return }
    health.withLock { health in
      health.note(event)
      stands.store(health.standing.rawValue, ordering: .relaxed)
      doubted.store(health.isDoubted, ordering: .relaxed)
    }
  }

  /// - Returns: false while another probe is under way.
  func beginProbe() -> Bool { probing.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged }

  func endProbe() { probing.store(false, ordering: .relaxed) }

  func isSame(as url: UpstreamURL, _ address: SocketAddress?) -> Bool { self.url == url && self.address == address }
}

/// Where a service is, as `AUTH_URL` and its like say it.
struct UpstreamURL: Sendable, Hashable {
  let host: String
  let port: Int
  let isTLS: Bool

  /// nil: neither `http://host:port` nor `https://host:port`.
  init?(_ text: String) {
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

  /// An address needs no resolver. `try?`: what is not an address is a name.
  var literal: SocketAddress? { try? SocketAddress(ipAddress: host, port: port) }

  /// As `Host` says it.
  var authority: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
