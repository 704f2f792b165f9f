import Foundation

/// An external OpenID Connect issuer, and which of its tokens are accepted.
package struct ExternalIssuer: Sendable {
  /// Exactly as in the `iss` of its tokens.
  package let name: String
  private let audiences: Set<String>
  private let authorizedParties: Set<String>
  private let keys: RemoteJWKS
  /// The clock skew that is tolerated.
  private static let leewaySeconds = 30

  /// - Parameters:
  ///   - audiences: one of these must be in `aud`; empty when any audience is accepted.
  ///   - authorizedParties: one of these must be `azp`; empty when any party is accepted.
  package init(_ name: String, audiences: Set<String>, authorizedParties: Set<String>, keys: RemoteJWKS) {
    self.name = name
    self.audiences = audiences
    self.authorizedParties = authorizedParties
    self.keys = keys
  }

  /// Access tokens may have a type of their own (RFC 9068 §2.1).
  private static let types: Set = ["JWT", "at+jwt"]

  /// The issuer that a token claims, unverified: only good for choosing the keys to verify it with.
  package static func claimedIssuer(of text: String) -> String? {
    // `try?`: a token that cannot be parsed claims no issuer.
    (try? SignedToken(text, types: types))?.claimedIssuer
  }

  /// - Throws: ``TokenRejected``; ``KeysUnavailable`` or a network error when its keys were never fetched.
  package func verify(_ text: String, at now: Date) async throws -> ExternalToken {
    let signed = try SignedToken(text, types: Self.types)
    guard signed.claimedIssuer == name else { throw TokenRejected.issuer }
    let claims = try signed.claims(ExternalClaims.self, signedBy: try await keys.key(signed.keyID))
    try check(claims, at: now)
    return ExternalToken(claims)
  }

  private func check(_ claims: ExternalClaims, at now: Date) throws(TokenRejected) {
    let seconds = Int(now.timeIntervalSince1970)
    let latest = seconds + Self.leewaySeconds
    guard claims.iss == name else { throw .issuer }
    guard audiences.isEmpty || !audiences.isDisjoint(with: claims.audiences) else { throw .audience }
    guard authorizedParties.isEmpty || claims.azp.map(authorizedParties.contains) == true else { throw .audience }
    guard claims.exp > seconds - Self.leewaySeconds else { throw .expired }
    guard claims.iat <= latest, claims.nbf.map({ $0 <= latest }) ?? true, claims.iat < claims.exp else {
      throw .notYetValid
    }
    guard (1...255).contains(claims.sub.utf8.count), !claims.sub.utf8.contains(0) else { throw .claims }
  }
}

/// The verified claims of an external issuer's token about its user.
package struct ExternalToken: Sendable, Hashable {
  package let subject: String
  package let email: String?
  package let isEmailVerified: Bool
  package let displayName: String?
  package let expiresAt: Date

  fileprivate init(_ claims: ExternalClaims) {
    subject = claims.sub
    email = claims.email
    isEmailVerified = claims.isEmailVerified
    displayName = claims.name
    expiresAt = Date(timeIntervalSince1970: Double(claims.exp))
  }
}

/// The claims of OpenID Connect Core §2 and §5.1 that are used.
private struct ExternalClaims: Decodable {
  let iss: String
  let sub: String
  let exp: Int
  let iat: Int
  let nbf: Int?
  let azp: String?
  let audiences: Set<String>
  let email: String?
  let isEmailVerified: Bool
  let name: String?

  private enum Key: String, CodingKey {
    case iss, sub, exp, iat, nbf, azp, aud, email, name
    case emailVerified = "email_verified"
  }

  init(from decoder: any Decoder) throws {
    let claims = try decoder.container(keyedBy: Key.self)
    iss = try claims.decode(String.self, forKey: .iss)
    sub = try claims.decode(String.self, forKey: .sub)
    exp = try claims.decode(Int.self, forKey: .exp)
    iat = try claims.decode(Int.self, forKey: .iat)
    nbf = try claims.decodeIfPresent(Int.self, forKey: .nbf)
    azp = try claims.decodeIfPresent(String.self, forKey: .azp)
    audiences = try Self.audiences(claims)
    // `try?`: descriptive claims of another type are left out, as issuers let their customers define them.
    email = try? claims.decodeIfPresent(String.self, forKey: .email)
    isEmailVerified = (try? claims.decodeIfPresent(Bool.self, forKey: .emailVerified)) ?? false
    name = try? claims.decodeIfPresent(String.self, forKey: .name)
  }

  /// A string or an array of strings (RFC 7519 §4.1.3).
  private static func audiences(_ claims: KeyedDecodingContainer<Key>) throws -> Set<String> {
    guard try claims.contains(.aud) && !claims.decodeNil(forKey: .aud) else { return [] }
    // `try?`: if it is no string it must be an array.
    if let one = try? claims.decode(String.self, forKey: .aud) { return [one] }
    return Set(try claims.decode([String].self, forKey: .aud))
  }
}
