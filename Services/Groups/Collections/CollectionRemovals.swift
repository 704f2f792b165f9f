import Database
import Foundation
import Wire

/// Whom the owner has removed from a collection, and when, so that an invite from before does not undo it.
enum CollectionRemovals {
  static func has(
    _ user: UserID, from id: CollectionID, since date: Date, on db: any Connection
  ) throws -> Bool {
    let removal = try db.row(
      """
      select removed_at from collection_removal
      where collection_id = \(id) and user_id = \(user) and removed_at >= \(date)
      """)
    return removal != nil
  }

  static func note(_ user: UserID, from id: CollectionID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into collection_removal (collection_id, user_id, removed_at) values (\(id), \(user), \(now))
      on conflict (collection_id, user_id) do update set removed_at = excluded.removed_at
      """)
  }

  /// They are in it again.
  static func forget(_ user: UserID, from id: CollectionID, on db: any Connection) throws {
    try db.change("delete from collection_removal where collection_id = \(id) and user_id = \(user)")
  }
}
