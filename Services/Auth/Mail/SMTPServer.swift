import Foundation
import Web

/// Who takes our mail, as `SMTP_URL` says: `smtp://user:password@host:587` or `smtps://user:password@host:465`.
struct SMTPServer: Sendable {
  enum Security: Sendable {
    /// From the first byte on.
    case implicit
    /// STARTTLS, or nothing is sent (RFC 8314 §3 has it weaker, as anybody in between can strip it).
    case startTLS
    case none
  }

  let host: String
  let port: Int
  let security: Security
  let credentials: (user: String, password: String)?
  /// The path of a file of certificates to believe besides the system's.
  let authorities: String?

  /// Plain SMTP is for this machine, and with `?tls=none` for development; `?tls=required` asks for STARTTLS there too.
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

  private static let loopback: Set = ["127.0.0.1", "localhost", "[::1]"]

  private static func security(
    _ scheme: String, _ host: String, _ query: [URLQueryItem], isDevelopment: Bool
  ) throws -> Security {
    let isLoopback = loopback.contains(host.lowercased())
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
