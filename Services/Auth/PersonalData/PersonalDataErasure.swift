import Database
import EventFeed
import Foundation
import Outbox
import Web
import Wire

/// The statements that erase a user's data, in the order of the calls: `request`, `begin`, `finish`.
enum PersonalDataErasure {
  static let leases = LeaseTable(
    table: "erasure", key: "account_id", selected: "begun_at", leaseDuration: .seconds(120))

  /// Deactivates an account, ends its sessions, and schedules its erasure and the revocation of Apple's grants. nil
  /// when the account is not active.
  static func request(
    for user: UserID, dueAt due: Date, _ outbox: Outbox, at now: Date, on db: any Connection
  ) throws -> [EndedSession]? {
    let changed = try db.change(
      "update account set deactivated_at = \(now) where id = \(user) and deactivated_at is null")
    guard changed == 1 else { return nil }
    try db.change("insert into erasure (account_id, asked_at, due_at) values (\(user), \(now), \(due))")
    try AppleRevocation.enqueue(user, in: outbox, at: now, on: db)
    AccountEvents.deleted(user, erasedAfter: due, at: now, on: db)
    return try [EndedSession(externalTokensOf: user, at: now)]
      + SessionStore.endAll(of: user, reason: .accountDeleted, at: now, on: db)
  }

  /// Deletes all personal data of an account for good; from then on nobody can sign in to it. Safe to repeat.
  ///
  /// - Returns: false when the user has signed in again in time.
  static func begin(_ user: UserID, at now: Date, on db: any Connection) throws -> Bool {
    let updated = try db.change(
      """
      update account set email = null, display_name = null, locale = null, time_zone = null, avatar_url = null,
        metadata = null, last_login_at = null, erased_at = coalesce(erased_at, \(now))
      where id = \(user) and deactivated_at is not null
      """)
    guard updated == 1 else { return false }
    try db.change("delete from identity where account_id = \(user)")
    try db.change("delete from refresh_token where session_id in (select id from session where account_id = \(user))")
    try db.change("update session set device = null where account_id = \(user)")
    for table: SQL in ["password", "challenge", "known_address", "unlinked", "new_email"] {
      try db.change("delete from \(table) where account_id = \(user)")
    }
    for table in ["outbox", "inbox"] as [SQL] { try db.change("delete from \(table) where user_id = \(user)") }
    try Idempotency.erase(user, on: db)
    try EventFeed.erase(user, at: now, on: db)
    AccountEvents.erased(user, at: now, on: db)
    try db.change("update erasure set begun_at = coalesce(begun_at, \(now)) where account_id = \(user)")
    return true
  }

  static func finish(_ user: UserID, at now: Date, on db: any Connection) throws {
    try db.change("update erasure set finished_at = \(now) where account_id = \(user)")
  }
}
