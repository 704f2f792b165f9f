import Database
import Foundation
import Wire

/// Records whom the owner has removed from a collection and when, so that they cannot join again by an older invite.
/// Users who left are not recorded: unlike groups and lists, collections get members by invites only.
enum CollectionMemberRemovalStore {
  /// Whether the user was removed at `date` or later.
  static func wasRemoved(
    _ user: UserID, from id: CollectionID, since date: Date, on db: any Connection
  ) throws -> Bool {
    let removal = try db.row(
      """
      select removed_at from collection_removal
      where collection_id = \(id) and user_id = \(user) and removed_at >= \(date)
      """)
    return removal != nil
  }

  static func record(_ user: UserID, from id: CollectionID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into collection_removal (collection_id, user_id, removed_at) values (\(id), \(user), \(now))
      on conflict (collection_id, user_id) do update set removed_at = excluded.removed_at
      """)
  }

  /// Called when the user has joined again.
  static func delete(_ user: UserID, from id: CollectionID, on db: any Connection) throws {
    try db.change("delete from collection_removal where collection_id = \(id) and user_id = \(user)")
  }
}
