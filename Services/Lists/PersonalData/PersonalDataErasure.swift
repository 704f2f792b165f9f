import Database
import EventFeed
import Foundation
import Web
import Wire

/// The steps that erase a user's data. Each is safe to repeat.
enum PersonalDataErasure {
  /// Transfers a list to its longest-standing editor; deletes one that has no editors, or is soft-deleted.
  ///
  /// - Returns: whether the user still owned a list.
  static func eraseNextOwnedList(of user: UserID, at now: Date, on db: any Connection) throws -> Bool {
    let row = try db.row("select id from list where owner_id = \(user) order by id limit 1")
    guard let list = try row?.get("id", as: Int.self) else { return false }
    let locked = try db.row(
      """
      update list set revision = revision + 1 where id = \(list) and owner_id = \(user) returning deleted_at
      """)
    guard let locked else { return true }
    let isDeleted = try locked.optional("deleted_at", as: Date.self) != nil
    guard !isDeleted, let newOwner = try longestStandingEditor(of: list, on: db) else {
      if !isDeleted { ListEvents.deleted(list, by: nil, at: now, on: db) }
      try db.change("delete from list where id = \(list)")
      return true
    }
    try db.change("delete from membership where id = \(newOwner.id)")
    try db.change(
      """
      update list set owner_id = \(newOwner.user), member_count = member_count - 1, version = revision,
        updated_at = \(now) where id = \(list)
      """)
    guard EventFeed.isRecording(on: db) else { return true }
    ListEvents.transferred(
      try ListStore.list(list, for: newOwner.user, on: db), from: user, at: now, on: db)
    return true
  }

  /// Removes the user from one list that they are a member of.
  ///
  /// - Returns: whether there was one.
  static func leaveNextList(_ user: UserID, at now: Date, on db: any Connection) throws -> Bool {
    let row = try db.row("select list_id from membership where user_id = \(user) order by list_id limit 1")
    guard let list = try row?.get("list_id", as: Int.self) else { return false }
    try db.change("update list set revision = revision + 1 where id = \(list)")
    guard let membership = try MembershipStore.membership(of: user, in: list, on: db) else { return true }
    try MembershipStore.remove(membership, by: user, at: now, on: db)
    return true
  }

  private static let tasksMax = 32

  /// Takes the user's name from some of the tasks that they have made or are assigned on lists of others, and tells the
  /// members. Where nobody is told, ``eraseRemainingData(of:at:on:)`` does it for all of them.
  ///
  /// - Returns: whether there were any.
  static func eraseNextTasks(of user: UserID, at now: Date, on db: any Connection) throws -> Bool {
    guard EventFeed.isRecording(on: db) else { return false }
    let found = try db.rows(of: [
      "select id, list_id from task where creator_id = \(user) limit \(tasksMax)",
      "select id, list_id from task where assignee_id = \(user) limit \(tasksMax)",
    ]).joined()
    let tasks = Set(try found.map { try $0.get("id", as: Int.self) }).sorted()
    guard !tasks.isEmpty else { return false }
    let lists = Set(try found.map { try $0.get("list_id", as: Int.self) }).sorted()
    // Locks the lists first, as below.
    let locked = try db.rows(
      "update list set revision = revision + 1 where id in (\(list: lists.padded)) returning id, deleted_at")
    try db.change(
      """
      update task set creator_id = case when creator_id = \(user) then null else creator_id end,
        assignee_id = case when assignee_id = \(user) then null else assignee_id end,
        revision = (select list.revision from list where list.id = task.list_id)
      where id in (\(list: tasks.padded))
      """)
    let rows = try TaskRows.updates(of: tasks, on: db)
    for list in locked {
      guard try list.optional("deleted_at", as: Date.self) == nil else { continue }
      let id = try list.get("id", as: Int.self)
      TaskEvents.changed(rows[id] ?? [], of: id, by: nil, at: now, on: db)
    }
    return true
  }

  /// Deletes the rest of the user's rows. On lists of others, tasks and events stay without a user and without a
  /// reason.
  static func eraseRemainingData(of user: UserID, at now: Date, on db: any Connection) throws {
    // Locks the lists first, so that the revisions read below cannot be changed by other transactions.
    try db.change(
      """
      update list set revision = revision + 1 where id in (
        select list_id from task where creator_id = \(user)
        union select list_id from task where assignee_id = \(user)
        union select task.list_id from task_event join task on task.id = task_event.task_id
          where task_event.user_id = \(user)
        union select task.list_id from tag join task_tag on task_tag.tag_id = tag.id
          join task on task.id = task_tag.task_id where tag.user_id = \(user)
        union select list_tag.list_id from tag join list_tag on list_tag.tag_id = tag.id where tag.user_id = \(user))
      """)
    try db.change(
      """
      update list set version = revision where id in (
        select list_tag.list_id from tag join list_tag on list_tag.tag_id = tag.id where tag.user_id = \(user))
      """)
    try db.change(
      """
      update task set revision = (select list.revision from list where list.id = task.list_id) where id in (
        select id from task where creator_id = \(user) union select id from task where assignee_id = \(user)
        union select task_id from task_event where user_id = \(user)
        union select task_tag.task_id from tag join task_tag on task_tag.tag_id = tag.id where tag.user_id = \(user))
      """)
    // The explanation of a late task is personal data of the user who completed it.
    try db.change(
      """
      update task set missed_reason = null, missed_reason_submitted_at = null
      where missed_reason is not null and id in (
        select task_id from task_event where user_id = \(user) and kind = 'completed')
      """)
    try db.change("update task set creator_id = null where creator_id = \(user)")
    try db.change("update task set assignee_id = null where assignee_id = \(user)")
    try db.change("update task_event set user_id = null, reason = null where user_id = \(user)")
    try db.change("delete from tag where user_id = \(user)")
    try db.change("delete from named_people where user_id = \(user)")
    try db.change("delete from invite_use where user_id = \(user)")
    try db.change("delete from removal where user_id = \(user)")
    try db.change("update removal set removed_by = null where removed_by = \(user)")
    try db.change("update membership set named_by = null, named_as = null where named_by = \(user)")
    try db.change("delete from completion_day where user_id = \(user)")
    try FriendStore.erase(user, on: db)
    try Idempotency.erase(user, on: db)
    try EventFeed.erase(user, at: now, on: db)
  }

  private static func longestStandingEditor(of list: Int, on db: any Connection) throws -> Membership? {
    try MembershipStore.members(of: list, on: db).filter { $0.role == .editor }
      .min { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }
}
