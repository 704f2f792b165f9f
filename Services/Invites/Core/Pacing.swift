import Database
import Foundation
import Quotas
import Wire

/// How many invites one person makes, counted by the invites themselves over a time that slides.
struct Pacing: Sendable {
  let way: Invite.Way
  /// Whether those are counted that wait for one person, or the others.
  var isWaiting = false
  let limit: Int
  let seconds: Double

  /// Links of every kind together.
  static let links = Pacing(way: .link, limit: 5, seconds: 600)
  /// Nothing is sent for these, and each is for one person who is named.
  static let waiting = Pacing(way: .link, isWaiting: true, limit: 50, seconds: 86_400)
  static let texts = Pacing(way: .text, limit: 20, seconds: 86_400)

  /// Makes sure that `count` more may be made. From here on the inviter's other calls wait for this transaction.
  ///
  /// - Throws: 429 that says when there is room again.
  func admit(_ count: Int, by inviter: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into inviter (user_id, touched_at) values (\(inviter), \(now))
      on conflict (user_id) do update set touched_at = excluded.touched_at
      """)
    try check(count, by: inviter, at: now, on: db)
  }

  /// The same without waiting, for a first look.
  func check(_ count: Int, by inviter: UserID, at now: Date, on db: any Connection) throws {
    let made = try db.rows(
      """
      select created_at from invite
      where inviter_id = \(inviter) and way = \(way.rawValue) and created_at > \(now - seconds)
        and (invitee_hash is not null) = \(isWaiting)
      order by created_at desc limit \(limit)
      """
    ).map { try $0.get("created_at", as: Date.self) }
    guard made.count + count > limit else { return }
    // There is room once all but so many of them are too long ago to count; for more than the limit there never is.
    let room = limit - count
    let freed = made.indices.contains(room) ? made[room] : now
    throw Failure.limited(retryAfterSeconds: Int((freed.timeIntervalSince(now) + seconds).rounded(.up)))
  }
}
