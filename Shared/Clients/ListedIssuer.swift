import AsyncHTTPClient
import Foundation
import Logging
import NIOFoundationCompat
import Tokens
import Web
import Wire

/// One entry of `OIDC_ISSUERS`: `https://issuer;aud=…;azp=…;jwks=…`, where `aud` and `azp` may come several times.
struct ListedIssuer: Sendable {
  let name: String
  private var audiences: Set<String> = []
  private var parties: Set<String> = []
  private var keysURL: String?
  private var isExternal = false

  /// - Throws: ``StartFailure`` that says which entry is wrong, and how.
  init(_ text: String) throws {
    let parts = text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    name = parts.first ?? ""
    guard Self.isSafe(name) else { throw wrong("is not an https address") }
    guard !Self.apple.contains(name) else { throw wrong("has settings of its own: APPLE_BUNDLE_ID") }
    for part in parts.dropFirst() {
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2, try take(pair[0], pair[1]) else {
        throw wrong("\(part) is not aud=…, azp=…, jwks=… or resolve=shared")
      }
    }
    // Without either, a token that its user gave to any other app would be good here.
    guard !audiences.isEmpty || !parties.isEmpty else { throw wrong("needs aud=… or azp=…") }
  }

  private mutating func take(_ key: String, _ value: String) throws -> Bool {
    switch (key, value) {
    case ("aud", _): audiences.insert(value)
    case ("azp", _): parties.insert(value)
    case ("jwks", _):
      guard keysURL == nil, Self.isSafe(value) else { throw wrong("jwks=… must be one https address") }
      keysURL = value
    case ("resolve", "shared"): isExternal = true
    default: return false
    }
    return true
  }

  private func wrong(_ how: String) -> StartFailure { StartFailure("OIDC_ISSUERS: \(name.prefix(200)) \(how)") }

  func entry(logger: Logger) -> Outsiders.Entry {
    let keys = RemoteKeys { [name, keysURL] in
      do {
        return try await Verification.keySet(at: try await Self.keysURL(keysURL, of: name))
      } catch {
        logger.warning("no keys from an outside issuer", metadata: ["issuer": "\(name)", "error": "\(error)"])
        throw error
      }
    }
    return Outsiders.Entry(
      issuer: OutsideIssuer(name, audiences: audiences, parties: parties, keys: keys), isExternal: isExternal)
  }

  private struct Discovered: Decodable {
    let issuer: String
    let jwks_uri: String
  }

  /// The configured address, else the one in the issuer's own document (OpenID Connect Discovery §4).
  private static func keysURL(_ configured: String?, of issuer: String) async throws -> String {
    if let configured { return configured }
    let root = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    let request = HTTPClientRequest(url: root + "/.well-known/openid-configuration")
    let response = try await Outbound.http.execute(request, timeout: .seconds(5))
    guard response.status == .ok else { throw KeysUnavailable() }
    let body = Data(buffer: try await response.body.collect(upTo: 256 * 1024))
    let document = try JSON.decode(Discovered.self, from: body)
    guard document.issuer == issuer, isSafe(document.jwks_uri) else { throw WrongDocument() }
    return document.jwks_uri
  }

  /// The document is another issuer's, or its keys would come over a line that anybody can write to.
  private struct WrongDocument: Error {}

  private static let apple: Set = ["https://appleid.apple.com", "https://account.apple.com"]

  private static func isSafe(_ url: String) -> Bool { url.utf8.count <= 255 && WebAddress.isSafe(url) }
}

/// Addresses of outside parties.
package enum WebAddress {
  private static let loopback: Set = ["127.0.0.1", "localhost", "::1", "[::1]"]

  /// Whether nobody on the way can read or change what is said there: https, or this machine.
  package static func isSafe(_ text: String) -> Bool {
    guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.user == nil,
      parts.query == nil, parts.fragment == nil
    else { return false }
    return parts.scheme == "https" || parts.scheme == "http" && loopback.contains(host)
  }
}

extension Settings {
  func outsideIssuers() throws -> [ListedIssuer] { try list("OIDC_ISSUERS").map { try ListedIssuer($0) } }
}
