import Database
import Foundation
import Wire

/// All statements on the `removal` table: users who left a list or were removed from it, when and by whom. They join
/// again only by an invite; after a removal, only by a newer one. A table of its own, as the membership is deleted.
enum DepartureStore {
  /// Whether another user has removed them since `date`.
  static func wasRemoved(_ user: UserID, from list: Int, since date: Date, on db: any Connection) throws -> Bool {
    let removal = try db.row(
      """
      select removed_at from removal where list_id = \(list) and user_id = \(user) and removed_at >= \(date)
        and (removed_by is null or removed_by <> user_id)
      """)
    return removal != nil
  }

  /// The departure of a user from a list; nil when there was none.
  static func departure(of user: UserID, from list: Int, on db: any Connection) throws -> Departure? {
    let row = try db.row("select removed_by from removal where list_id = \(list) and user_id = \(user)")
    return try row.map { Departure(by: try $0.optional("removed_by")) }
  }

  /// - Parameter remover: the member's own ID when they leave.
  static func record(_ membership: Membership, by remover: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into removal (list_id, user_id, removed_at, removed_by)
      values (\(membership.list), \(membership.user), \(now), \(remover))
      on conflict (list_id, user_id) do update set removed_at = excluded.removed_at, removed_by = excluded.removed_by
      """)
  }

  /// Deletes the departure of a user who is a member again.
  static func delete(_ user: UserID, from list: Int, on db: any Connection) throws {
    try db.change("delete from removal where list_id = \(list) and user_id = \(user)")
  }
}

/// How a user has left a list.
struct Departure: Sendable {
  /// The user who removed them, or their own ID when they left; nil after the remover's data was erased, and for old
  /// rows.
  let by: UserID?

  /// The owner may undo a removal that they have made.
  func mayBeUndone(by user: UserID, as role: ListRole) -> Bool { role == .owner && by == user }
}
