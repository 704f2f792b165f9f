import Foundation
import Wire

/// A session of a user, as the user's list of sessions shows it.
struct Session: Sendable {
  let id: SessionID
  let openedAt: Date
  /// When the session was last used, at a precision of an hour, or refreshed.
  let lastSeenAt: Date
  let endedAt: Date?
  let endReason: String?
  let device: String?
}

/// A session that has ended, and when the last access token of it expires.
typealias EndedSession = EndedSessions.Entry

/// Why a session ended; shown to its user.
enum EndReason: String, Sendable {
  case signedOut = "signed_out"
  /// Ended from another session.
  case ended
  /// A used refresh token was presented again, so it may have been stolen.
  case tokenReused = "refresh_token_reused"
  case passwordChanged = "password_changed"
  case accountDeleted = "account_deleted"
  case revokedByIssuer = "revoked_by_issuer"
  /// It reached the maximum age of a session.
  case expired
}

/// The result of presenting a refresh token.
enum RefreshResult: Sendable {
  case rotated(TokenPair, of: Profile)
  /// The retry of a refresh whose response was lost; the pair is the same.
  case repeated(TokenPair, of: Profile)
  /// Unknown, expired, or of a session that has ended.
  case refused
  /// Used before. The token may have been stolen, so every session of the user was ended.
  case reused([EndedSession])
}

extension Date {
  static func + (date: Date, duration: Duration) -> Date { date + Double(duration.components.seconds) }
  static func - (date: Date, duration: Duration) -> Date { date - Double(duration.components.seconds) }
}
