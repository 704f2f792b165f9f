import Database
import Foundation
import Quotas
import Wire

/// A sliding-window limit on how many invites one user creates, counted by the invite rows themselves.
struct InviteRateQuota: Sendable {
  let channel: Invite.Channel
  /// Whether direct invites are counted, which are for one user or address, or all others.
  var isDirect = false
  let limit: Int
  let windowSeconds: Double

  /// Links to targets of every kind count together.
  static let links = InviteRateQuota(channel: .link, limit: 5, windowSeconds: 600)
  /// Direct invites have a higher limit: they send no message, and each is for one named user or address.
  static let direct = InviteRateQuota(channel: .link, isDirect: true, limit: 50, windowSeconds: 86_400)
  static let texts = InviteRateQuota(channel: .text, limit: 20, windowSeconds: 86_400)

  /// Checks that the inviter may create `count` more invites. Locks the inviter's row: the inviter's concurrent calls
  /// wait until this transaction ends.
  ///
  /// - Throws: 429 with the seconds until there is room again.
  func enforce(_ count: Int, by inviter: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into inviter (user_id, touched_at) values (\(inviter), \(now))
      on conflict (user_id) do update set touched_at = excluded.touched_at
      """)
    try check(count, by: inviter, at: now, on: db)
  }

  /// The same without the lock. Used alone it is only an estimate.
  ///
  /// - Throws: 429 with the seconds until there is room again.
  func check(_ count: Int, by inviter: UserID, at now: Date, on db: any Connection) throws {
    let creationTimes = try db.rows(
      """
      select created_at from invite
      where inviter_id = \(inviter) and way = \(channel.rawValue) and created_at > \(now - windowSeconds)
        and (invitee_hash is not null) = \(isDirect)
      order by created_at desc limit \(limit)
      """
    ).map { try $0.get("created_at", as: Date.self) }
    guard creationTimes.count + count > limit else { return }
    // There is room once all but `room` of these invites are outside the window. A `count` above the limit never fits.
    let room = limit - count
    let newestToExpire = creationTimes.indices.contains(room) ? creationTimes[room] : now
    throw Failure.limited(retryAfterSeconds: Int((newestToExpire.timeIntervalSince(now) + windowSeconds).rounded(.up)))
  }
}
