import Crypto
import Foundation
import Tokens
import Web
import Wire

/// Verifies what Apple signs: identity tokens here, notifications in ``AppleNotification``.
///
/// The checks are those of "Verifying a user" in Apple's Sign in with Apple REST API: signature by one of Apple's keys,
/// issuer, audience, expiry, nonce.
struct SignInWithApple: Sendable {
  /// The bundle ids of our apps.
  let audiences: Set<String>
  let keys: RemoteJWKS

  /// The issuer under which Apple's identities are stored, whichever of its issuers has signed.
  static let issuer = "https://appleid.apple.com"
  /// Apple is moving from the first to the second; the subjects are the same.
  private static let issuers: Set = [issuer, "https://account.apple.com"]
  private static let leewaySeconds = 60

  /// - Parameter nonce: the raw nonce, whose SHA-256 in hex the token has to contain. One without the other is refused.
  /// - Throws: 401 `invalid_apple_token`; 503 when Apple's keys have not been reached yet, or no bundle id is
  ///   configured.
  func verify(_ token: String, nonce: String?, at now: Date) async throws -> VerifiedAppleIdentity {
    do {
      let claims = try await claims(AppleIdentityClaims.self, of: token, at: now)
      let hashed = nonce.map { raw in
        SHA256.hash(data: Data(raw.utf8)).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
      }
      guard claims.nonce == hashed else { throw TokenRejected.nonce }
      return VerifiedAppleIdentity(
        identity: Identity(
          issuer: Self.issuer, subject: claims.sub, email: claims.email, isEmailVerified: claims.isEmailVerified,
          isPrivateEmail: claims.isPrivateEmail), app: claims.aud)
    } catch is TokenRejected {
      throw Failure.invalidAppleToken
    }
  }

  /// The claims of a token that Apple has signed for one of our apps and that is valid now.
  ///
  /// - Throws: ``TokenRejected``; 503 when Apple's keys have not been reached yet, or no bundle id is configured.
  func claims<Claims: AppleClaims>(_ type: Claims.Type, of token: String, at now: Date) async throws -> Claims {
    guard !audiences.isEmpty else { throw Failure.appleNotConfigured }
    let signed = try SignedToken(token)
    let key: VerifyingKey
    do { key = try await keys.key(signed.keyID) } catch let rejected as TokenRejected { throw rejected } catch {
      throw Failure.appleUnavailable
    }
    let claims = try signed.claims(type, signedBy: key)
    try check(claims, at: now)
    return claims
  }

  private func check(_ claims: some AppleClaims, at now: Date) throws(TokenRejected) {
    let seconds = Int(now.timeIntervalSince1970)
    guard Self.issuers.contains(claims.iss) else { throw .issuer }
    guard audiences.contains(claims.aud) else { throw .audience }
    guard claims.expires.map({ $0 > seconds }) ?? true else { throw .expired }
    guard claims.iat <= seconds + Self.leewaySeconds else { throw .notYetValid }
    guard (1...255).contains(claims.sub.utf8.count), !claims.sub.utf8.contains(0) else { throw .claims }
  }
}

/// An identity from a verified token of Apple's, and the bundle id of the app that the token is for.
struct VerifiedAppleIdentity: Sendable {
  var identity: Identity
  let app: String
}

/// The claims that all tokens of Apple's have.
protocol AppleClaims: Decodable {
  var iss: String { get }
  var aud: String { get }
  var sub: String { get }
  var iat: Int { get }
  var expires: Int? { get }
}

/// The claims of an identity token.
struct AppleIdentityClaims: AppleClaims {
  let iss: String
  let aud: String
  let sub: String
  let expires: Int?
  let iat: Int
  let nonce: String?
  let email: String?
  let isEmailVerified: Bool
  let isPrivateEmail: Bool

  private enum Key: String, CodingKey {
    case iss, aud, sub, exp, iat, nonce, email
    case emailVerified = "email_verified"
    case isPrivateEmail = "is_private_email"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    iss = try container.decode(String.self, forKey: .iss)
    aud = try container.decode(String.self, forKey: .aud)
    sub = try container.decode(String.self, forKey: .sub)
    expires = try container.decode(Int.self, forKey: .exp)
    iat = try container.decode(Int.self, forKey: .iat)
    nonce = try container.decodeIfPresent(String.self, forKey: .nonce)
    email = try container.decodeIfPresent(String.self, forKey: .email)
    isEmailVerified = try Self.flag(container, .emailVerified)
    isPrivateEmail = try Self.flag(container, .isPrivateEmail)
  }

  /// Apple sends these as strings or as booleans.
  private static func flag(_ container: KeyedDecodingContainer<Key>, _ key: Key) throws -> Bool {
    guard container.contains(key) else { return false }
    // `try?`: not a string means that it must be a boolean.
    if let text = try? container.decode(String.self, forKey: key) { return text == "true" }
    return try container.decode(Bool.self, forKey: key)
  }
}

extension Failure {
  static let invalidAppleToken = Failure(
    .unauthorized, "invalid_apple_token", "This Apple sign-in could not be verified.")
  static let appleNotConfigured = Failure(
    .unavailable, "apple_not_configured", "Sign in with Apple is not configured on this server.")
  static let appleUnavailable = Failure(
    .unavailable, "apple_unavailable", "Apple cannot be reached at the moment.", retryAfterSeconds: 2)
}
