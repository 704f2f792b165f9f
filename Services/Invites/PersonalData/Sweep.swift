import Database
import Foundation
import Logging
import Quotas
import ServiceLifecycle
import Web

/// Marks, every few minutes and a batch at a time, invites whose time is over, and forgets what nobody needs any more:
/// thirty days after an invite has ended, the number or the address that it went to; a year later, all of it.
struct Sweep: Service {
  private let database: any Database
  private let quotas: QuotaStore
  private let logger: Logger
  private let now: @Sendable () -> Date

  init(database: any Database, quotas: QuotaStore, in surroundings: Surroundings) {
    self.database = database
    self.quotas = quotas
    logger = surroundings.logger
    now = surroundings.now
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          while try await sweep(), !Task.isCancelled {}
        } catch { logger.warning("invites not swept", metadata: ["error": "\(error)"]) }
        // `try?`: cancelled means that the server stops, which the loop sees.
        try? await Task.sleep(for: .seconds(300))
      }
    }
  }

  private static let batch = 500
  private static let day = 86_400.0

  /// Whether there may be more to do.
  func sweep() async throws -> Bool {
    let now = now()
    return try await database.write { [quotas] db in
      let counts = [
        try Self.expire(at: now, on: db), try Self.forgetPeople(at: now, on: db), try Self.forget(at: now, on: db),
        try Self.forgetMakers(at: now, on: db),
        try CheckedNumbers.sweep(at: now, limit: Self.batch, on: db),
        try quotas.sweep(at: now, limit: Self.batch, on: db),
      ]
      return counts.contains { $0 >= Self.batch }
    }
  }

  private static func expire(at now: Date, on db: any Connection) throws -> Int {
    try db.change(
      """
      update invite set state = 'expired', ended_at = expires_at where state = 'pending' and id in (
        select id from invite where state = 'pending' and expires_at <= \(now) order by expires_at limit \(batch))
      """)
  }

  private static func forgetPeople(at now: Date, on db: any Connection) throws -> Int {
    try db.change(
      """
      update invite set sealed_phone = null, sealed_email = null, sealed_secret = null, invitee_hash = null where id in (
        select id from invite where ended_at <= \(now - 30 * day)
          and (sealed_phone is not null or sealed_email is not null or sealed_secret is not null) limit \(batch))
      """)
  }

  private static func forget(at now: Date, on db: any Connection) throws -> Int {
    let old = try db.rows(over(at: now)).map { try $0.get("id", as: String.self) }
    try db.change("delete from invite_use where invite_id in (\(list: old))")
    return try db.change("delete from invite where id in (\(list: old))")
  }

  /// The invites of which nobody needs anything.
  static func over(at now: Date) -> SQL {
    """
    select id from invite where ended_at <= \(now - 365 * day)
      and not exists (select 1 from invite_use u where u.invite_id = invite.id and u.due_at is not null)
    limit \(batch)
    """
  }

  private static func forgetMakers(at now: Date, on db: any Connection) throws -> Int {
    let texted = try db.change(
      """
      delete from texted where (group_id, phone_hash) in (
        select group_id, phone_hash from texted where texted_at <= \(now - day) limit \(batch))
      """)
    let inviters = try db.change(
      """
      delete from inviter where user_id in (
        select user_id from inviter where touched_at <= \(now - 2 * day) limit \(batch))
      """)
    return max(texted, inviters)
  }
}
