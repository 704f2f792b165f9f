import Database
import Foundation
import Outbox
import Web
import Wire

/// Every statement on accounts that are to be forgotten.
struct ErasureStore: Sendable {
  let database: any Database
  let outbox: Outbox

  static let leases = Leases(
    table: "erasure", key: "account_id", selected: "begun_at", lasting: .seconds(120))

  /// Deactivates an account, ends its sessions, notes when it is to be erased and that Apple gets back what was granted
  /// there, all or nothing. nil when it is not active.
  func ask(for user: UserID, erasingAt due: Date, at now: Date) async throws -> [EndedSession]? {
    try await database.write { db in
      let changed = try db.change(
        "update account set deactivated_at = \(now) where id = \(user) and deactivated_at is null")
      guard changed == 1 else { return nil }
      try db.change("insert into erasure (account_id, asked_at, due_at) values (\(user), \(now), \(due))")
      try AppleUnlinked.note(user, in: outbox, at: now, on: db)
      return try [EndedSession(outsideBearersOf: user, at: now)]
        + SessionStore.endAll(of: user, because: .accountDeleted, at: now, on: db)
    }
  }

  /// Takes everything personal from an account, for good: from now on nobody can sign in to it. Safe to repeat.
  ///
  /// - Returns: false when its user has come back in time.
  static func begin(_ user: UserID, at now: Date, on db: any Connection) throws -> Bool {
    let isOver = try db.change(
      """
      update account set email = null, display_name = null, locale = null, time_zone = null, avatar_url = null,
        metadata = null, last_login_at = null, erased_at = coalesce(erased_at, \(now))
      where id = \(user) and deactivated_at is not null
      """)
    guard isOver == 1 else { return false }
    try db.change("delete from identity where account_id = \(user)")
    try db.change("delete from refresh_token where session_id in (select id from session where account_id = \(user))")
    try db.change("update session set device = null where account_id = \(user)")
    for table: SQL in ["password", "challenge", "known_address", "unlinked", "new_email"] {
      try db.change("delete from \(table) where account_id = \(user)")
    }
    for table in ["outbox", "inbox"] as [SQL] { try db.change("delete from \(table) where user_id = \(user)") }
    try Idempotency.erase(user, on: db)
    try db.change("update erasure set begun_at = coalesce(begun_at, \(now)) where account_id = \(user)")
    return true
  }

  static func finish(_ user: UserID, at now: Date, on db: any Connection) throws {
    try db.change("update erasure set finished_at = \(now) where account_id = \(user)")
  }
}
