import NIOCore
import Synchronization
import Web

/// One address of a service, and what the whole gateway knows of it.
final class Endpoint: Sendable {
  let service: ServiceName
  let url: UpstreamURL
  /// nil: a name that nobody has resolved yet.
  let address: SocketAddress?
  /// No connection could be made lately.
  private let out = Atomic(false)
  /// It answers, but asked not to be sent new requests: it is stopping, or its database is away.
  private let unready = Atomic(false)
  private let wasReady = Atomic(false)
  /// What the log says of it.
  private let told = Atomic(Standing.ready.rawValue)

  init(_ service: ServiceName, _ url: UpstreamURL, _ address: SocketAddress?) {
    self.service = service
    self.url = url
    self.address = address
  }

  enum Standing: Int, Comparable {
    case ready, unready, out

    static func < (left: Standing, right: Standing) -> Bool { left.rawValue < right.rawValue }
  }

  var standing: Standing {
    out.load(ordering: .relaxed) ? .out : unready.load(ordering: .relaxed) ? .unready : .ready
  }

  func stands(_ standing: Standing) {
    out.store(standing == .out, ordering: .relaxed)
    unready.store(standing == .unready, ordering: .relaxed)
  }

  /// Whether the log is to say how it stands now, which it then does. What has not been there yet is no news for as long
  /// as everything starts.
  func isNews(_ standing: Standing, whileStarting isStarting: Bool) -> Bool {
    if standing == .ready { wasReady.store(true, ordering: .relaxed) }
    if isStarting, !wasReady.load(ordering: .relaxed) { return false }
    return told.exchange(standing.rawValue, ordering: .relaxed) != standing.rawValue
  }

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
