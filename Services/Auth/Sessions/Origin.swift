import Database
import Foundation
import Wire

/// How old a new session counts as: an access token alone must neither prolong a session nor make it young again.
struct Origin: Sendable {
  let openedAt: Date
  /// False when the session goes back to no sign-in that is known: its user is asked again before the password changes.
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
