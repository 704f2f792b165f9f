import Foundation
import Wire

/// The claims of an access token.
package struct AccessToken: Codable, Hashable, Sendable {
  package let user: UserID
  package let session: SessionID
  package let id: String
  package let issuedAtSeconds: Int
  package let expiresAtSeconds: Int
  /// Never set here, but respected when it is present.
  let notBeforeSeconds: Int?
  /// For clients only; the services decide by the session's row.
  package let goTrue: GoTrueClaims?
  let type: String
  let issuer: String

  package static let issuer = "kith"
  /// The longest lifetime that `JWT_SIGN_IN_EXPIRE_DAYS` allows. A token with a longer one was not issued here.
  package static let lifetimeSecondsMax = 365 * 86_400

  package init(
    user: UserID, session: SessionID, issuedAt: Date, lifetime: Duration, goTrue: GoTrueClaims? = nil
  ) {
    self.goTrue = goTrue
    self.user = user
    self.session = session
    self.id = Trace.newRequestID()
    self.issuedAtSeconds = Int(issuedAt.timeIntervalSince1970)
    self.expiresAtSeconds = issuedAtSeconds + Int(lifetime.components.seconds)
    self.notBeforeSeconds = nil
    self.type = "access"
    self.issuer = Self.issuer
  }

  private enum CodingKeys: String, CodingKey {
    case user = "sub"
    case session = "sid"
    case id = "jti"
    case issuedAtSeconds = "iat"
    case expiresAtSeconds = "exp"
    case notBeforeSeconds = "nbf"
    case type
    case issuer = "iss"
  }

  package init(from decoder: any Decoder) throws {
    let claims = try decoder.container(keyedBy: CodingKeys.self)
    user = try claims.decode(UserID.self, forKey: .user)
    session = try claims.decode(SessionID.self, forKey: .session)
    id = try claims.decode(String.self, forKey: .id)
    issuedAtSeconds = try claims.decode(Int.self, forKey: .issuedAtSeconds)
    expiresAtSeconds = try claims.decode(Int.self, forKey: .expiresAtSeconds)
    notBeforeSeconds = try claims.decodeIfPresent(Int.self, forKey: .notBeforeSeconds)
    type = try claims.decode(String.self, forKey: .type)
    issuer = try claims.decode(String.self, forKey: .issuer)
    goTrue = nil
  }

  package func encode(to encoder: any Encoder) throws {
    var claims = encoder.container(keyedBy: CodingKeys.self)
    try claims.encode(user, forKey: .user)
    try claims.encode(session, forKey: .session)
    try claims.encode(id, forKey: .id)
    try claims.encode(issuedAtSeconds, forKey: .issuedAtSeconds)
    try claims.encode(expiresAtSeconds, forKey: .expiresAtSeconds)
    try claims.encode(type, forKey: .type)
    try claims.encode(issuer, forKey: .issuer)
    try goTrue?.encode(to: encoder, session: session)
  }

  package var expiresAt: Date { Date(timeIntervalSince1970: Double(expiresAtSeconds)) }
}

/// The further claims of an access token that Supabase's client libraries expect.
package struct GoTrueClaims: Hashable, Sendable {
  let email: String
  let phone: String
  let isAnonymous: Bool
  let appMetadata: JSONValue
  let userMetadata: JSONValue
  /// How the session was opened, for `amr`.
  let method: String
  /// When the session was opened.
  let signedInAt: Date

  /// Larger metadata is left out, as the token would become too long for a header.
  private static let metadataBytesMax = 1024

  package init(
    email: String, phone: String, isAnonymous: Bool, appMetadata: JSONValue, userMetadata: JSONValue,
    method: String, signedInAt: Date
  ) {
    self.method = method
    self.signedInAt = signedInAt
    self.email = email
    self.phone = phone
    self.isAnonymous = isAnonymous
    self.appMetadata = appMetadata
    // `try?`: metadata that cannot be encoded is left out.
    let bytes = (try? JSON.encode(userMetadata))?.count ?? .max
    self.userMetadata = bytes <= Self.metadataBytesMax ? userMetadata : .object([:])
  }

  private enum CodingKeys: String, CodingKey {
    case aud, role, email, phone, aal, amr
    case sessionID = "session_id"
    case isAnonymous = "is_anonymous"
    case appMetadata = "app_metadata"
    case userMetadata = "user_metadata"
  }

  fileprivate func encode(to encoder: any Encoder, session: SessionID) throws {
    var claims = encoder.container(keyedBy: CodingKeys.self)
    try claims.encode("authenticated", forKey: .aud)
    try claims.encode("authenticated", forKey: .role)
    try claims.encode(email, forKey: .email)
    try claims.encode(phone, forKey: .phone)
    try claims.encode(session, forKey: .sessionID)
    try claims.encode(isAnonymous, forKey: .isAnonymous)
    try claims.encode(appMetadata, forKey: .appMetadata)
    try claims.encode(userMetadata, forKey: .userMetadata)
    // There is no second factor.
    try claims.encode("aal1", forKey: .aal)
    try claims.encode([Method(method: method, timestamp: Int(signedInAt.timeIntervalSince1970))], forKey: .amr)
  }

  /// An entry of `amr` in GoTrue's format.
  private struct Method: Encodable {
    let method: String
    let timestamp: Int
  }
}

/// Signs access tokens with the key ring's signing key.
package struct AccessTokenSigner: Sendable {
  private let ring: KeyRing

  package init(_ ring: KeyRing) { self.ring = ring }

  /// - Throws: ``KeysUnavailable`` in a process without a signing key.
  package func sign(_ token: AccessToken) throws -> String {
    guard let key = ring.current.signing else { throw KeysUnavailable() }
    return try SignedToken.sign(token, with: key)
  }
}

/// Verifies access tokens: signature, issuer, type and validity period.
///
/// Whether a token's session has ended is checked with ``EndedSessionList``.
package struct AccessTokenVerifier: Sendable {
  private let ring: KeyRing
  private let remote: RemoteJWKS?
  /// The clock skew that is tolerated.
  private static let leewaySeconds = 30

  /// - Parameter remote: the key server for ES256 keys that are not in `ring`.
  package init(_ ring: KeyRing, remote: RemoteJWKS? = nil) {
    self.ring = ring
    self.remote = remote
  }

  /// Changes when keys were replaced or removed. Cached results of an earlier version may be wrong.
  package var version: Int { ring.version &+ (remote?.removals ?? 0) }

  /// Verifies a token with the keys in memory, without waiting; nil when the key server has to be queried.
  package func verifyLocally(_ text: String, at now: Date) throws(TokenRejected) -> AccessToken? {
    let signed = try SignedToken(text)
    if let key = ring.key(signed.keyID) ?? remote?.cachedKey(signed.keyID) {
      return try Self.verified(signed, key, at: now)
    }
    // HS256 secrets are not on a key server.
    guard remote != nil, signed.algorithm == "ES256" else { throw .unknownKey }
    return nil
  }

  /// - Throws: ``TokenRejected``; ``KeysUnavailable`` or a network error when the key server was needed and did not
  ///   answer.
  package func verify(_ text: String, at now: Date) async throws -> AccessToken {
    if let token = try verifyLocally(text, at: now) { return token }
    let signed = try SignedToken(text)
    guard let remote else { throw TokenRejected.unknownKey }
    return try Self.verified(signed, try await remote.key(signed.keyID), at: now)
  }

  private static func verified(
    _ signed: SignedToken, _ key: VerifyingKey, at now: Date
  ) throws(TokenRejected) -> AccessToken {
    let token = try signed.claims(AccessToken.self, signedBy: key)
    guard token.type == "access" else { throw .claims }
    guard token.issuer == AccessToken.issuer else { throw .issuer }
    let seconds = Int(now.timeIntervalSince1970)
    let (issued, expires) = (token.issuedAtSeconds, token.expiresAtSeconds)
    guard expires > seconds else { throw .expired }
    let latest = seconds + leewaySeconds
    guard issued <= latest, issued < expires, token.notBeforeSeconds.map({ $0 <= latest }) ?? true else {
      throw .notYetValid
    }
    let (lifetime, isTooLong) = expires.subtractingReportingOverflow(issued)
    guard !isTooLong, lifetime <= AccessToken.lifetimeSecondsMax else { throw .claims }
    return token
  }
}
