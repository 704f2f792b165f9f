import Database
import Foundation
import Wire

/// Who has left a list or was removed from it, when and by whom. Nobody puts them back but by an invite; an invite from
/// before does not undo a removal.
enum Removals {
  static func has(_ user: UserID, from list: Int, since date: Date, on db: any Connection) throws -> Bool {
    let removal = try db.row(
      """
      select removed_at from removal where list_id = \(list) and user_id = \(user) and removed_at >= \(date)
        and (removed_by is null or removed_by <> user_id)
      """)
    return removal != nil
  }

  /// How somebody has gone from a list; nil for who has not.
  static func departure(of user: UserID, from list: Int, on db: any Connection) throws -> Departure? {
    let row = try db.row("select removed_by from removal where list_id = \(list) and user_id = \(user)")
    return try row.map { Departure(by: try $0.optional("removed_by")) }
  }

  /// - Parameter remover: the member themselves when they leave.
  static func note(_ membership: Membership, by remover: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into removal (list_id, user_id, removed_at, removed_by)
      values (\(membership.list), \(membership.user), \(now), \(remover))
      on conflict (list_id, user_id) do update set removed_at = excluded.removed_at, removed_by = excluded.removed_by
      """)
  }

  /// They are in it again.
  static func forget(_ user: UserID, from list: Int, on db: any Connection) throws {
    try db.change("delete from removal where list_id = \(list) and user_id = \(user)")
  }
}

/// How somebody has gone from a list.
struct Departure: Sendable {
  /// Who removed them, or they themselves. nil: it is not known any more.
  let by: UserID?

  /// The owner may undo what they have done themselves.
  func mayBeUndone(by user: UserID, as role: Role) -> Bool { role == .owner && by == user }
}
