import Database
import Foundation
import Wire

/// Whom an editor has removed from a list, and when, so that an invite from before does not undo it.
enum Removals {
  static func has(_ user: UserID, from list: Int, since date: Date, on db: any Connection) throws -> Bool {
    let removal = try db.row(
      "select removed_at from removal where list_id = \(list) and user_id = \(user) and removed_at >= \(date)")
    return removal != nil
  }

  static func note(_ membership: Membership, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into removal (list_id, user_id, removed_at) values (\(membership.list), \(membership.user), \(now))
      on conflict (list_id, user_id) do update set removed_at = excluded.removed_at
      """)
  }

  /// They are in it again.
  static func forget(_ user: UserID, from list: Int, on db: any Connection) throws {
    try db.change("delete from removal where list_id = \(list) and user_id = \(user)")
  }
}
