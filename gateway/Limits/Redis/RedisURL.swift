import Foundation
import NIOSSL
import Web

/// The address of Redis with its credentials, from `REDIS_URL`.
package struct RedisURL: Sendable, CustomStringConvertible {
  let host: String
  let port: Int
  let user: String?
  let password: String?
  let database: Int
  /// For `rediss://`; shared by all connections.
  let tls: NIOSSLContext?

  /// - Returns: nil when `REDIS_URL` is not set.
  /// - Throws: ``StartFailure`` that names the variable, never its value.
  package init?(_ settings: Settings) throws {
    guard let text = settings.nonempty("REDIS_URL") else { return nil }
    try self.init(text)
  }

  /// - Parameters:
  ///   - text: `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS.
  ///   - trustRoots: a file of certificates to trust instead of the system's.
  package init(_ text: String, trustRoots: String? = nil) throws {
    guard let scheme = text.range(of: "://"), ["redis", "rediss"].contains(text[..<scheme.lowerBound]) else {
      throw Self.malformed
    }
    let rest = text[scheme.upperBound...]
    guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }) else {
      throw Self.malformed
    }
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let authority = parts[0]
    let at = authority.lastIndex(of: "@")
    (user, password) = try at.map { try Self.credentials(authority[..<$0]) } ?? (nil, nil)
    (host, port) = try Self.hostAndPort(at.map { authority[authority.index(after: $0)...] } ?? authority)
    database = try Self.number(parts.count == 2 && !parts[1].isEmpty ? parts[1] : "0", in: 0...65_535)
    tls = text.hasPrefix("rediss") ? try Self.context(trustRoots) : nil
  }

  /// Without user and password, for logs.
  package var description: String {
    "\(tls == nil ? "redis" : "rediss")://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
  }

  private static let malformed = StartFailure(
    "REDIS_URL must be redis://[[user]:password@]host[:port][/database], or rediss:// for TLS; other characters than "
      + "letters and digits in user and password are written as %40")

  private static func credentials(_ text: Substring) throws -> (user: String?, password: String?) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      .map { $0.removingPercentEncoding }
    guard parts.count == 2, let user = parts[0], let password = parts[1], !password.isEmpty else { throw malformed }
    return (user.isEmpty ? nil : user, password)
  }

  private static func hostAndPort(_ text: Substring) throws -> (host: String, port: Int) {
    var host = text
    var port: Substring = ":6379"
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = text[text.index(after: text.startIndex)..<end]
      guard IPAddress(String(host)) != nil else { throw malformed }
      if text.index(after: end) < text.endIndex { port = text[text.index(after: end)...] }
    } else if let colon = text.firstIndex(of: ":") {
      host = text[..<colon]
      port = text[colon...]
    }
    guard !host.isEmpty, port.hasPrefix(":") else { throw malformed }
    return (String(host), try number(port.dropFirst(), in: 1...65_535))
  }

  private static func number(_ text: Substring, in range: ClosedRange<Int>) throws -> Int {
    guard let number = Int(text), String(number) == text, range.contains(number) else { throw malformed }
    return number
  }

  private static func context(_ trustRoots: String?) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    if let trustRoots { configuration.trustRoots = .file(trustRoots) }
    do { return try NIOSSLContext(configuration: configuration) } catch {
      throw StartFailure("REDIS_URL asks for TLS, which cannot be prepared: \(error)")
    }
  }
}
