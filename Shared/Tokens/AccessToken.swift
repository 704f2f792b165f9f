import Foundation
import Wire

/// What one of our access tokens says.
package struct AccessToken: Codable, Hashable, Sendable {
  package let user: UserID
  package let session: SessionID
  package let id: String
  package let issuedAtSeconds: Int
  package let expiresAtSeconds: Int
  let type: String
  let issuer: String

  package static let issuer = "kith"

  package init(user: UserID, session: SessionID, issuedAt: Date, lifetime: Duration) {
    self.user = user
    self.session = session
    self.id = Trace.newRequestID()
    self.issuedAtSeconds = Int(issuedAt.timeIntervalSince1970)
    self.expiresAtSeconds = issuedAtSeconds + Int(lifetime.components.seconds)
    self.type = "access"
    self.issuer = Self.issuer
  }

  private enum CodingKeys: String, CodingKey {
    case user = "sub"
    case session = "sid"
    case id = "jti"
    case issuedAtSeconds = "iat"
    case expiresAtSeconds = "exp"
    case type
    case issuer = "iss"
  }

  package var expiresAt: Date { Date(timeIntervalSince1970: Double(expiresAtSeconds)) }
}

/// Signs access tokens with the newest key.
package struct Issuer: Sendable {
  private let ring: KeyRing

  package init(_ ring: KeyRing) { self.ring = ring }

  /// - Throws: ``KeysUnavailable`` in a process without a key that signs.
  package func sign(_ token: AccessToken) throws -> String {
    guard let key = ring.current.signing else { throw KeysUnavailable() }
    return try SignedToken.sign(token, with: key)
  }
}

/// Believes access tokens of ours: those that a key of ours signed, that are in their time.
///
/// Which sessions have ended is not its business: ``EndedSessionList`` knows.
package struct Verifier: Sendable {
  private let ring: KeyRing
  private let remote: RemoteKeys?
  /// How far the clocks of two machines may be apart.
  private static let leewaySeconds = 30

  /// - Parameter remote: where to ask for other ids of ES256 keys, if anywhere.
  package init(_ ring: KeyRing, remote: RemoteKeys? = nil) {
    self.ring = ring
    self.remote = remote
  }

  /// Changes when keys were replaced: what was believed before may not be any more.
  package var version: Int { ring.version }

  /// With the keys at hand, without waiting; nil when a key server has to be asked.
  package func verifyNow(_ text: String, at now: Date) throws(TokenRejected) -> AccessToken? {
    let signed = try SignedToken(text)
    if let key = ring.key(signed.keyID) ?? remote?.keyAtHand(signed.keyID) {
      return try Self.believed(signed, key, at: now)
    }
    // Secrets are nowhere to be asked for.
    guard remote != nil, signed.algorithm == "ES256" else { throw .unknownKey }
    return nil
  }

  /// - Throws: ``TokenRejected``; ``KeysUnavailable`` or a network error when the key server was needed and is away.
  package func verify(_ text: String, at now: Date) async throws -> AccessToken {
    if let token = try verifyNow(text, at: now) { return token }
    let signed = try SignedToken(text)
    guard let remote else { throw TokenRejected.unknownKey }
    return try Self.believed(signed, try await remote.key(signed.keyID), at: now)
  }

  private static func believed(
    _ signed: SignedToken, _ key: VerifyingKey, at now: Date
  ) throws(TokenRejected) -> AccessToken {
    let token = try signed.claims(AccessToken.self, signedBy: key)
    guard token.type == "access" else { throw .claims }
    guard token.issuer == AccessToken.issuer else { throw .issuer }
    let seconds = Int(now.timeIntervalSince1970)
    guard token.expiresAtSeconds > seconds else { throw .expired }
    guard token.issuedAtSeconds <= seconds + leewaySeconds, token.issuedAtSeconds < token.expiresAtSeconds else {
      throw .notYetValid
    }
    return token
  }
}
