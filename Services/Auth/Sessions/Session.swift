import Crypto
import Foundation
import Tokens
import Wire

/// Through what kind of call a session was opened. Its clients' rules hold for the session as long as it lives, whichever
/// way its tokens come back.
enum Door: String, Sendable {
  case app
  /// `/auth/v1`: what Supabase's client libraries call.
  case supabase
  /// An app that knows no refreshing.
  case signIn = "sign_in"
}

/// How a session was opened, in the words of GoTrue's `amr`.
enum SignInMethod: String, Sendable {
  case password, otp, anonymous
  /// By what Apple has signed.
  case oauth
  case magicLink = "magiclink"
  case emailSignUp = "email/signup"
  case emailChange = "email_change"
  case recovery
}

/// How long what a sign-in gives is good for.
struct Lifetimes: Sendable {
  let access: Duration
  let signIn: Duration
  let refresh: Duration
  /// How long a session may be kept alive by refreshing.
  let session: Duration
  /// Within this time the parent of the live refresh token is answered with the live pair; 0 switches it off.
  let reuseGrace: Duration
  /// How long the retry of a lost refresh is answered with the same pair.
  let retry: Duration = .seconds(24 * 3600)

  func access(of door: Door) -> Duration {
    switch door {
    case .app: access
    case .supabase: .seconds(3600)
    case .signIn: signIn
    }
  }

  /// An app whose access token lives for long refreshes when that has expired, so the refresh token must outlive it.
  func refresh(of door: Door) -> Duration { door == .signIn ? signIn + refresh : refresh }

  /// Supabase's libraries refresh from several places at once, and rely on ten seconds.
  func reuseGrace(of door: Door) -> Duration { door == .supabase ? .seconds(10) : reuseGrace }
}

/// What is remembered of where a session was opened, for its user to recognise.
struct Visit: Sendable {
  let door: Door
  /// What the app calls itself, at most 200 characters.
  let device: String?
  /// The address that it came from.
  let place: String
  /// Only said to clients of `/auth/v1`.
  var method = SignInMethod.otp
  /// Whether somebody signs in.
  var origin = SessionOrigin.signIn

  func by(_ method: SignInMethod) -> Visit {
    var visit = self
    visit.method = method
    return visit
  }
}

/// What a session is opened out of.
enum SessionOrigin: Sendable {
  case signIn
  /// Something that a bearer is enough for: the session is no younger than the bearer's. nil when there was no bearer of a
  /// session.
  case bearer(SessionID?)
}

/// An opaque refresh token of 256 random bits. The database only ever sees its digest.
struct RefreshToken: Sendable, Hashable, Codable {
  let text: String

  init(presented text: String) { self.text = text }

  static func new() -> RefreshToken {
    var generator = SystemRandomNumberGenerator()
    return RefreshToken(
      presented: Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }))
  }

  var hash: [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
}

/// What a sign-in or a refresh gives to an app.
struct TokenPair: Sendable, Hashable, Codable {
  let access: String
  let refresh: RefreshToken
  let accessExpiresAt: Date
}

/// A session that is over, and until when an access token of it could still be presented.
typealias EndedSession = EndedSessions.Entry

/// One sign-in of a user's, as they see it.
struct Session: Sendable {
  let id: SessionID
  let openedAt: Date
  /// When tokens of it were last asked for.
  let lastSeenAt: Date
  let endedAt: Date?
  let endReason: String?
  let device: String?
}

/// Why a session is over, for its user to read.
enum EndReason: String, Sendable {
  case signedOut = "signed_out"
  /// Ended from another session.
  case ended
  /// A refresh token came back that had been used: somebody else may have had it.
  case tokenReused = "refresh_token_reused"
  case passwordChanged = "password_changed"
  case accountDeleted = "account_deleted"
  case revokedByIssuer = "revoked_by_issuer"
  /// It was kept alive for as long as sessions may be.
  case expired
}

/// What became of a presented refresh token.
enum Refreshed: Sendable {
  case rotated(TokenPair, of: Profile)
  /// The retry of a refresh whose answer was lost: the same pair again.
  case repeated(TokenPair, of: Profile)
  /// Unknown, expired, or of a session that has ended.
  case refused
  /// Used before: somebody else may have it, so every session of the user has been ended.
  case stolen([EndedSession])
}

/// Mints what sessions hand out, and knows where they were opened.
struct Mint: Sendable {
  let issuer: Issuer
  let lifetimes: Lifetimes
  let places: KnownPlaces

  /// A pair of tokens.
  ///
  /// - Parameters:
  ///   - refresh: a new one, or the one whose access token is renewed.
  ///   - end: of the session, which no token outlives.
  ///   - claims: what clients of that door read in their access token.
  func pair(
    refresh: RefreshToken = .new(), user: UserID, session: SessionID, door: Door, until end: Date,
    claims: GoTrueClaims?, at now: Date
  ) throws -> TokenPair {
    let left = Duration.seconds(max(1, Int(end.timeIntervalSince(now))))
    let token = AccessToken(
      user: user, session: session, issuedAt: now, lifetime: min(lifetimes.access(of: door), left), goTrue: claims)
    return TokenPair(access: try issuer.sign(token), refresh: refresh, accessExpiresAt: token.expiresAt)
  }
}

extension Date {
  static func + (date: Date, duration: Duration) -> Date { date + Double(duration.components.seconds) }
  static func - (date: Date, duration: Duration) -> Date { date - Double(duration.components.seconds) }
}
