import Foundation

/// An issuer of bearers beside ourselves, and which of its tokens are meant for us.
package struct OutsideIssuer: Sendable {
  /// As its tokens have it in `iss`, to the letter.
  package let name: String
  private let audiences: Set<String>
  private let parties: Set<String>
  private let keys: RemoteKeys
  /// How far the clocks of two machines may be apart.
  private static let leewaySeconds = 30

  /// - Parameters:
  ///   - audiences: one of these must stand in `aud`; empty when it may hold anything.
  ///   - parties: one of these must be `azp`; empty when it may be anything.
  package init(_ name: String, audiences: Set<String>, parties: Set<String>, keys: RemoteKeys) {
    self.name = name
    self.audiences = audiences
    self.parties = parties
    self.keys = keys
  }

  /// Access tokens may say what they are (RFC 9068 §2.1).
  private static let types: Set = ["JWT", "at+jwt"]

  /// Whom a token claims to be from: enough to choose who is asked for keys, and for nothing else.
  package static func claimed(by text: String) -> String? {
    // `try?`: what cannot be read claims nothing.
    (try? SignedToken(text, types: types))?.claimedIssuer
  }

  /// - Throws: ``TokenRejected``; ``KeysUnavailable`` or a network error when its keys have never been reached.
  package func verify(_ text: String, at now: Date) async throws -> OutsideToken {
    let signed = try SignedToken(text, types: Self.types)
    guard signed.claimedIssuer == name else { throw TokenRejected.issuer }
    let claims = try signed.claims(OutsideClaims.self, signedBy: try await keys.key(signed.keyID))
    try check(claims, at: now)
    return OutsideToken(claims)
  }

  private func check(_ claims: OutsideClaims, at now: Date) throws(TokenRejected) {
    let seconds = Int(now.timeIntervalSince1970)
    let latest = seconds + Self.leewaySeconds
    guard claims.iss == name else { throw .issuer }
    guard audiences.isEmpty || !audiences.isDisjoint(with: claims.audiences) else { throw .audience }
    guard parties.isEmpty || claims.azp.map(parties.contains) == true else { throw .audience }
    guard claims.exp > seconds - Self.leewaySeconds else { throw .expired }
    guard claims.iat <= latest, claims.nbf.map({ $0 <= latest }) ?? true, claims.iat < claims.exp else {
      throw .notYetValid
    }
    guard (1...255).contains(claims.sub.utf8.count), !claims.sub.utf8.contains(0) else { throw .claims }
  }
}

/// What a bearer of an outside issuer says of its user, once it is believed.
package struct OutsideToken: Sendable, Hashable {
  package let subject: String
  package let email: String?
  package let isEmailVerified: Bool
  package let displayName: String?
  package let expiresAt: Date

  fileprivate init(_ claims: OutsideClaims) {
    subject = claims.sub
    email = claims.email
    isEmailVerified = claims.isEmailVerified
    displayName = claims.name
    expiresAt = Date(timeIntervalSince1970: Double(claims.exp))
  }
}

/// The claims of OpenID Connect Core §2 and §5.1 that matter here.
private struct OutsideClaims: Decodable {
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
    // What only describes the person is left out when it is of another type, as issuers let their customers shape it.
    email = try? claims.decodeIfPresent(String.self, forKey: .email)
    isEmailVerified = (try? claims.decodeIfPresent(Bool.self, forKey: .emailVerified)) ?? false
    name = try? claims.decodeIfPresent(String.self, forKey: .name)
  }

  /// One text or several (RFC 7519 §4.1.3).
  private static func audiences(_ claims: KeyedDecodingContainer<Key>) throws -> Set<String> {
    guard try claims.contains(.aud) && !claims.decodeNil(forKey: .aud) else { return [] }
    // `try?`: not one text means that it must be a list.
    if let one = try? claims.decode(String.self, forKey: .aud) { return [one] }
    return Set(try claims.decode([String].self, forKey: .aud))
  }
}
