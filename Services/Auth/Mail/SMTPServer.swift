import Foundation
import Web

/// The SMTP server that `SMTP_URL` names: `smtp://user:password@host:587` or `smtps://user:password@host:465`.
struct SMTPServer: Sendable {
  enum Security: Sendable {
    /// TLS from the first byte on.
    case implicit
    /// STARTTLS; without it nothing is sent. RFC 8314 §3 considers it weaker than implicit TLS, as a man in the middle
    /// can strip it.
    case startTLS
    case none
  }

  let host: String
  let port: Int
  let security: Security
  let credentials: (user: String, password: String)?
  /// The path of a file of trusted certificates, besides the system's.
  let authorities: String?

  /// SMTP without TLS is accepted for loopback, and with `?tls=none` in development; `?tls=required` requires STARTTLS
  /// for loopback, too.
  ///
  /// - Throws: ``StartFailure`` that names the variable, never its value, which holds a password.
  init(_ url: String, authorities: String?, isDevelopment: Bool) throws {
    guard let components = URLComponents(string: url), let host = components.encodedHost, !host.isEmpty,
      let scheme = components.scheme?.lowercased(), ["smtp", "smtps"].contains(scheme),
      ["", "/"].contains(components.path), components.port.map({ (1...65_535).contains($0) }) ?? true
    else { throw StartFailure("SMTP_URL must be smtp://user:password@host:587 or smtps://user:password@host:465") }
    self.host = host
    port = components.port ?? (scheme == "smtps" ? 465 : 587)
    security = try Self.security(scheme, host, components.queryItems ?? [], isDevelopment: isDevelopment)
    credentials = try Self.credentials(components)
    self.authorities = authorities
  }

  private static func security(
    _ scheme: String, _ host: String, _ query: [URLQueryItem], isDevelopment: Bool
  ) throws -> Security {
    let isLoopback = WebAddress.isLoopback(host: host.lowercased())
    guard query.count <= 1, query.first.map({ $0.name == "tls" }) ?? true else {
      throw StartFailure("SMTP_URL: the only option is tls=required or tls=none")
    }
    switch (scheme, query.first?.value) {
    case ("smtps", nil), ("smtps", "required"): return .implicit
    case ("smtp", "required"): return .startTLS
    case ("smtp", nil): return isLoopback ? .none : .startTLS
    case ("smtp", "none") where isLoopback || isDevelopment: return .none
    case ("smtp", "none"): throw StartFailure("SMTP_URL: tls=none is for development")
    default: throw StartFailure("SMTP_URL: tls must be required or none, and smtps is always with TLS")
    }
  }

  private static func credentials(_ components: URLComponents) throws -> (String, String)? {
    guard let user = components.user, !user.isEmpty else { return nil }
    guard let password = components.password, !password.isEmpty else {
      throw StartFailure("SMTP_URL has a user, but no password")
    }
    return (user, password)
  }
}
