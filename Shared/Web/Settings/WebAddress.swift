import Foundation

/// Checks URLs of external parties in settings, and their hosts.
package enum WebAddress {
  private static let loopback: Set = ["127.0.0.1", "localhost", "::1", "[::1]"]

  /// Whether a host of a setting is this machine. Peers of a connection have addresses instead, of which 127.0.0.0/8 is
  /// loopback: ``Context/isLoopback``.
  package static func isLoopback(host: String) -> Bool { loopback.contains(host) }

  /// Whether the URL uses https or a loopback address, and has no user, query or fragment.
  package static func isSafe(_ text: String) -> Bool {
    guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.user == nil,
      parts.query == nil, parts.fragment == nil
    else { return false }
    return parts.scheme == "https" || parts.scheme == "http" && isLoopback(host: host)
  }
}
