import Crypto
import Foundation
import Tokens
import Wire

/// An opaque refresh token of 256 random bits. The database stores its SHA-256 digest only.
struct RefreshToken: Sendable, Hashable, Codable {
  let text: String

  init(presented text: String) { self.text = text }

  static func new() -> RefreshToken { RefreshToken(presented: Base64URL.encode(Random.bytes(count: 32))) }

  var hash: [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
}

/// The access token and the refresh token that a sign-in or a refresh returns.
struct TokenPair: Sendable, Hashable, Codable {
  /// The type of the access token (RFC 6750).
  static let accessType = "bearer"

  let access: String
  let refresh: RefreshToken
  let accessExpiresAt: Date

  /// In whole seconds, rounded up; 0 when it has expired.
  func accessExpiresIn(at now: Date) -> Int { max(0, Int(accessExpiresAt.timeIntervalSince(now).rounded(.up))) }

  /// In whole seconds since 1970, as Supabase's client libraries read it.
  var accessExpiry: Int { Int(accessExpiresAt.timeIntervalSince1970) }
}

/// How long tokens and sessions are valid.
struct TokenLifetimes: Sendable {
  let access: Duration
  let signIn: Duration
  let refresh: Duration
  /// The maximum age of a session, however often it is refreshed.
  let session: Duration
  /// For this long after a refresh, the used refresh token is answered with the current pair; zero disables it.
  let reuseGrace: Duration
  /// For this long the retry of a refresh, by its idempotency key, is answered with the same pair.
  let retry: Duration = .seconds(24 * 3600)

  func access(of api: ClientAPI) -> Duration {
    switch api {
    case .app: access
    case .supabase: .seconds(3600)
    case .signIn: signIn
    }
  }

  /// An app with a long-lived access token refreshes when that has expired, so the refresh token must outlive it.
  func refresh(of api: ClientAPI) -> Duration { api == .signIn ? signIn + refresh : refresh }

  /// Supabase's libraries refresh concurrently and rely on ten seconds.
  func reuseGrace(of api: ClientAPI) -> Duration { api == .supabase ? .seconds(10) : reuseGrace }
}

/// Issues the token pairs of sessions, and has what opening a session needs besides.
struct TokenPairIssuer: Sendable {
  let signer: AccessTokenSigner
  let lifetimes: TokenLifetimes
  let knownAddresses: KnownAddresses

  /// A pair of tokens.
  ///
  /// - Parameters:
  ///   - refresh: a new token, or the existing one whose access token is renewed.
  ///   - end: the end of the session, which the access token does not outlive.
  ///   - claims: additional claims for the clients of `/auth/v1`.
  func pair(
    refresh: RefreshToken = .new(), user: UserID, session: SessionID, api: ClientAPI, until end: Date,
    claims: GoTrueClaims?, at now: Date
  ) throws -> TokenPair {
    let remaining = Duration.seconds(max(1, Int(end.timeIntervalSince(now))))
    let token = AccessToken(
      user: user, session: session, issuedAt: now, lifetime: min(lifetimes.access(of: api), remaining), goTrue: claims)
    return TokenPair(access: try signer.sign(token), refresh: refresh, accessExpiresAt: token.expiresAt)
  }
}
