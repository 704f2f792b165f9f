import Database
import EventFeed
import Foundation
import Outbox
import Web
import Wire

/// The statements that erase a user's data.
enum PersonalDataErasure {
  /// The user has been added to a group or collection since they left all of them.
  struct StillMember: Error {}

  static func activeGroups(of user: UserID, on db: any Connection) throws -> [GroupID] {
    try db.rows("select group_id from membership where user_id = \(user) and state = 'active'")
      .map { try $0.get("group_id") }
  }

  static func collections(of user: UserID, on db: any Connection) throws -> [CollectionID] {
    try db.rows("select collection_id from collection_member where user_id = \(user)")
      .map { try $0.get("collection_id") }
  }

  /// Ends the photos of a user who has left every group and collection, and deletes the user's rows.
  ///
  /// - Throws: ``StillMember``, and then nothing has changed.
  static func deleteRows(of user: UserID, _ outbox: Outbox, at now: Date, on db: any Connection) throws {
    try GroupStore.eraseCreator(user, at: now, on: db)
    try lock(user, on: db)
    guard try !isMember(user, on: db) else { throw StillMember() }
    try PhotoStore.endAll(by: user, at: now, on: db)
    try StoredObjectStore.deleteAll(of: user, at: now, on: db)
    try db.change("delete from membership where user_id = \(user)")
    try db.change("update membership set removed_by = null where removed_by = \(user)")
    try db.change("delete from person where user_id = \(user)")
    try db.change("delete from block where blocker_id = \(user) or blocked_id = \(user)")
    try db.change("delete from device where user_id = \(user)")
    try db.change("delete from invite_use where user_id = \(user)")
    try db.change("delete from collection_removal where user_id = \(user)")
    try outbox.erase(user, on: db)
    try Idempotency.erase(user, on: db)
    try EventFeed.erase(user, at: now, on: db)
  }

  /// Locks the user's row in `person`: transactions that add the user to a group update the same row first, so that
  /// they are either finished or wait for this transaction.
  private static func lock(_ user: UserID, on db: any Connection) throws {
    try db.change(
      """
      insert into person (user_id, group_count, group_count_max) values (\(user), 0, \(Group.groupCountMax))
      on conflict (user_id) do update set group_count = person.group_count
      """)
  }

  /// Whether the user is in any group or collection.
  private static func isMember(_ user: UserID, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select 1 as one from membership where user_id = \(user) and state = 'active'
      union all select 1 from collection_member where user_id = \(user)
      """) != nil
  }
}
