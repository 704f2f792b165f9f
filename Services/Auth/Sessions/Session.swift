import Crypto
import Foundation
import Tokens
import Wire

/// How long what a sign-in gives is good for.
struct Lifetimes: Sendable {
  let access: Duration
  let refresh: Duration
  /// Within this time the parent of the live refresh token is answered with the live pair; 0 switches it off.
  let reuseGrace: Duration
  /// How long the retry of a lost refresh is answered with the same pair.
  let retry: Duration = .seconds(24 * 3600)
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

/// What became of a presented refresh token.
enum Refreshed: Sendable {
  case rotated(TokenPair)
  /// The retry of a refresh whose answer was lost: the same pair again.
  case repeated(TokenPair)
  /// Unknown, expired, or of a session that has ended.
  case refused
  /// Used before: somebody else may have it, so every session of the user has been ended.
  case stolen([EndedSession])
}

/// Mints what sessions hand out.
struct Mint: Sendable {
  let issuer: Issuer
  let lifetimes: Lifetimes

  func pair(user: UserID, session: SessionID, at now: Date) throws -> TokenPair {
    try pair(refresh: .new(), user: user, session: session, at: now)
  }

  /// The same refresh token with a new access token.
  func pair(refresh: RefreshToken, user: UserID, session: SessionID, at now: Date) throws -> TokenPair {
    let token = AccessToken(user: user, session: session, issuedAt: now, lifetime: lifetimes.access)
    return TokenPair(access: try issuer.sign(token), refresh: refresh, accessExpiresAt: token.expiresAt)
  }
}

extension Date {
  static func + (date: Date, duration: Duration) -> Date { date + Double(duration.components.seconds) }
  static func - (date: Date, duration: Duration) -> Date { date - Double(duration.components.seconds) }
}
