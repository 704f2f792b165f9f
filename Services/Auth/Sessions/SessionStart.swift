import Database
import Foundation
import Wire

/// When a new session counts as opened. With an access token alone, a session can neither be prolonged nor replaced by
/// a newer one.
struct SessionStart: Sendable {
  let openedAt: Date
  /// False when the session does not originate in a known sign-in: the user has to reauthenticate before changing the
  /// password.
  let isSignedIn: Bool

  init(_ origin: SessionOrigin, of user: UserID, at now: Date, on db: any Connection) throws {
    guard case .bearer(let session) = origin else {
      openedAt = now
      isSignedIn = true
      return
    }
    let row = try db.row("select opened_at, is_signed_in from session where id = \(session) and account_id = \(user)")
    openedAt = try row?.get("opened_at") ?? now
    isSignedIn = try row?.get("is_signed_in") ?? false
  }

  static let migration = Migration(
    "sessions without a sign-in",
    "alter table session add column is_signed_in boolean not null default true;")
}
