import AsyncHTTPClient
import Foundation

/// URLs of Unix sockets, over which processes of one machine reach each other without a port.
///
/// In settings they are `unix:/run/kith/auth.sock`; `SOCKET_DIR` has the sockets of all services. As the base URL of
/// requests they have the form that AsyncHTTPClient takes, `http+unix://%2Frun%2Fkith%2Fauth.sock`.
package enum SocketURL {
  /// The `Host` of requests over a socket.
  package static let host = "localhost"
  private static let scheme = "http+unix://"
  private static let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics)

  /// The base URL for `unix:` and an absolute path; nil for any other text.
  package static func base(_ text: String) -> String? {
    let path = text.hasPrefix("unix:///") ? text.dropFirst(7) : text.hasPrefix("unix:") ? text.dropFirst(5) : ""
    return path.hasPrefix("/") && !path.hasPrefix("//") ? base(ofSocketAt: String(path)) : nil
  }

  package static func base(ofSocketAt path: String) -> String? {
    path.addingPercentEncoding(withAllowedCharacters: unreserved).map { scheme + $0 }
  }

  /// The path of a service's socket in `SOCKET_DIR`; nil when that is not set.
  static func path(of service: ServiceName, _ settings: Settings) -> String? {
    settings.nonempty("SOCKET_DIR").map { ($0.hasSuffix("/") ? $0 : $0 + "/") + "\(service.rawValue).sock" }
  }

  /// The path of the socket in a URL that begins with a base URL; nil for a URL of another kind.
  package static func path(in url: String) -> String? {
    guard url.hasPrefix(scheme) else { return nil }
    return url.dropFirst(scheme.utf8.count).prefix { $0 != "/" }.removingPercentEncoding
  }
}

extension HTTPClientRequest {
  /// A request to another process.
  package init(toProcessAt url: String) {
    self.init(url: url)
    address(toProcessAt: url)
  }

  /// Sends it to another process. Over a Unix socket it has a host as any other has (RFC 9112 §3.2), which AsyncHTTPClient
  /// does not add.
  package mutating func address(toProcessAt url: String) {
    self.url = url
    if SocketURL.path(in: url) != nil { headers.replaceOrAdd(name: "host", value: SocketURL.host) }
  }
}
