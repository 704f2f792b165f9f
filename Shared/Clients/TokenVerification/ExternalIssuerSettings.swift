import AsyncHTTPClient
import Foundation
import Logging
import NIOFoundationCompat
import Tokens
import Web
import Wire

/// One entry of `OIDC_ISSUERS`: `https://issuer;aud=…;azp=…;jwks=…;resolve=shared`, where `aud` and `azp` can be
/// repeated.
struct ExternalIssuerSettings: Sendable {
  let name: String
  private var audiences: Set<String> = []
  private var authorizedParties: Set<String> = []
  private var keysURL: String?
  private var sharesExternalIDs = false

  /// - Throws: ``StartFailure`` that says which entry is wrong, and how.
  init(_ text: String) throws {
    let parts = text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    name = parts.first ?? ""
    guard Self.isSafe(name) else { throw invalid("is not an https address") }
    guard !Self.apple.contains(name) else { throw invalid("has settings of its own: APPLE_BUNDLE_ID") }
    for part in parts.dropFirst() {
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2, try set(pair[0], to: pair[1]) else {
        throw invalid("\(part) is not aud=…, azp=…, jwks=… or resolve=shared")
      }
    }
    // Without either, a token that was issued to any other app would be accepted here.
    guard !audiences.isEmpty || !authorizedParties.isEmpty else { throw invalid("needs aud=… or azp=…") }
  }

  /// - Returns: false for an unknown key.
  private mutating func set(_ key: String, to value: String) throws -> Bool {
    switch (key, value) {
    case ("aud", _): audiences.insert(value)
    case ("azp", _): authorizedParties.insert(value)
    case ("jwks", _):
      guard keysURL == nil, Self.isSafe(value) else { throw invalid("jwks=… must be one https address") }
      keysURL = value
    case ("resolve", "shared"): sharesExternalIDs = true
    default: return false
    }
    return true
  }

  private func invalid(_ reason: String) -> StartFailure { StartFailure("OIDC_ISSUERS: \(name.prefix(200)) \(reason)") }

  func entry(logger: Logger) -> ExternalIdentities.Entry {
    let keys = RemoteJWKS { [name, keysURL] in
      do {
        return try await TokenVerification.keySet(at: try await Self.keysURL(keysURL, of: name))
      } catch {
        logger.warning("no keys from an outside issuer", metadata: ["issuer": "\(name)", "error": "\(error)"])
        throw error
      }
    }
    let issuer = ExternalIssuer(name, audiences: audiences, authorizedParties: authorizedParties, keys: keys)
    return ExternalIdentities.Entry(issuer: issuer, sharesExternalIDs: sharesExternalIDs)
  }

  private struct DiscoveryDocument: Decodable {
    let issuer: String
    let jwks_uri: String
  }

  /// The configured address, else the one in the issuer's discovery document (OpenID Connect Discovery §4).
  private static func keysURL(_ configured: String?, of issuer: String) async throws -> String {
    if let configured { return configured }
    let root = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    let request = HTTPClientRequest(url: root + "/.well-known/openid-configuration")
    let response = try await OutboundHTTP.client.execute(request, timeout: .seconds(5))
    guard response.status == .ok else { throw KeysUnavailable() }
    let body = Data(buffer: try await response.body.collect(upTo: 256 * 1024))
    let document = try JSON.decode(DiscoveryDocument.self, from: body)
    guard document.issuer == issuer, isSafe(document.jwks_uri) else { throw InvalidDiscoveryDocument() }
    return document.jwks_uri
  }

  /// The document names another issuer, or a key server without TLS.
  private struct InvalidDiscoveryDocument: Error {}

  private static let apple: Set = ["https://appleid.apple.com", "https://account.apple.com"]

  private static func isSafe(_ url: String) -> Bool { url.utf8.count <= 255 && WebAddress.isSafe(url) }
}

extension Settings {
  func externalIssuers() throws -> [ExternalIssuerSettings] {
    try list("OIDC_ISSUERS").map { try ExternalIssuerSettings($0) }
  }
}
