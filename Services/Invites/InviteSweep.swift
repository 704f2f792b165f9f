import Database
import Foundation
import Logging
import Quotas
import Web

/// Every five minutes, marks expired invites and deletes what is not needed any more: thirty days after an invite has
/// ended, the phone number or address that it was sent to; a year later, the invite.
struct InviteSweep: PeriodicSweep {
  let interval = Duration.seconds(300)
  let logger: Logger
  let failureMessage: Logger.Message = "invites not swept"
  private let database: any Database
  private let quotas: QuotaStore
  private let now: @Sendable () -> Date

  init(database: any Database, quotas: QuotaStore, in dependencies: Dependencies) {
    self.database = database
    self.quotas = quotas
    logger = dependencies.logger
    now = dependencies.now
  }

  func deleteBatch(limit: Int) async throws -> Int {
    let now = now()
    return try await database.write { [quotas] db in
      try [
        Self.expire, Self.eraseInvitees, Self.deleteInvites, Self.deleteRateLimitRows, CheckedNumberStore.sweep,
        quotas.sweep,
      ]
      .map { sweep in try sweep(now, limit, db) }.max() ?? 0
    }
  }

  private static let day = 86_400.0

  private static func expire(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      update invite set state = 'expired', ended_at = expires_at where state = 'pending' and id in (
        select id from invite where state = 'pending' and expires_at <= \(now) order by expires_at limit \(limit))
      """)
  }

  private static func eraseInvitees(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      update invite set sealed_phone = null, sealed_email = null, sealed_secret = null, invitee_hash = null where id in (
        select id from invite where ended_at <= \(now - 30 * day)
          and (sealed_phone is not null or sealed_email is not null or sealed_secret is not null) limit \(limit))
      """)
  }

  private static func deleteInvites(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    let old = try db.rows(deletableInvites(at: now, limit: limit)).map { try $0.get("id", as: String.self) }
    try db.change("delete from invite_use where invite_id in (\(list: old))")
    return try db.change("delete from invite where id in (\(list: old))")
  }

  /// Selects the invites that can be deleted: ended a year ago, and without a use that is still being completed.
  static func deletableInvites(at now: Date, limit: Int) -> SQL {
    """
    select id from invite where ended_at <= \(now - 365 * day)
      and not exists (select 1 from invite_use u where u.invite_id = invite.id and u.due_at is not null)
    limit \(limit)
    """
  }

  private static func deleteRateLimitRows(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    let texted = try db.change(
      """
      delete from texted where (group_id, phone_hash) in (
        select group_id, phone_hash from texted where texted_at <= \(now - day) limit \(limit))
      """)
    let inviters = try db.change(
      """
      delete from inviter where user_id in (
        select user_id from inviter where touched_at <= \(now - 2 * day) limit \(limit))
      """)
    return max(texted, inviters)
  }
}
