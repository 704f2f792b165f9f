import Database
import Foundation
import Web
import Wire

/// Forgetting somebody, in steps that are each safe to repeat.
enum Erasure {
  /// A list that others edit passes to whoever has done so the longest; one without editors, or deleted, goes.
  ///
  /// - Returns: whether there was one.
  static func forgetNextOwnedList(of user: UserID, at now: Date, on db: any Connection) throws -> Bool {
    let row = try db.row("select id from list where owner_id = \(user) order by id limit 1")
    guard let list = try row?.get("id", as: Int.self) else { return false }
    let held = try db.row(
      """
      update list set revision = revision + 1 where id = \(list) and owner_id = \(user) returning deleted_at
      """)
    guard let held else { return true }
    let isDeleted = try held.optional("deleted_at", as: Date.self) != nil
    guard !isDeleted, let heir = try longestStandingEditor(of: list, on: db) else {
      try db.change("delete from list where id = \(list)")
      return true
    }
    try db.change("delete from membership where id = \(heir.id)")
    try db.change(
      """
      update list set owner_id = \(heir.user), member_count = member_count - 1, version = revision,
        updated_at = \(now) where id = \(list)
      """)
    return true
  }

  static func leaveNextList(_ user: UserID, on db: any Connection) throws -> Bool {
    let row = try db.row("select list_id from membership where user_id = \(user) order by list_id limit 1")
    guard let list = try row?.get("list_id", as: Int.self) else { return false }
    try db.change("update list set revision = revision + 1 where id = \(list)")
    guard let membership = try MembershipStore.membership(of: user, in: list, on: db) else { return true }
    try MembershipStore.remove(membership, on: db)
    return true
  }

  /// On what others keep, nobody did it, and nobody says why.
  static func forgetTheRest(of user: UserID, on db: any Connection) throws {
    // Their lists are held first, so that the revisions below are read of rows that nobody else changes.
    try db.change(
      """
      update list set revision = revision + 1 where id in (
        select list_id from task where creator_id = \(user)
        union select list_id from task where assignee_id = \(user)
        union select t.list_id from task_event e join task t on t.id = e.task_id where e.user_id = \(user)
        union select t.list_id from tag g join task_tag o on o.tag_id = g.id join task t on t.id = o.task_id
          where g.user_id = \(user)
        union select o.list_id from tag g join list_tag o on o.tag_id = g.id where g.user_id = \(user))
      """)
    try db.change(
      """
      update list set version = revision where id in (
        select o.list_id from tag g join list_tag o on o.tag_id = g.id where g.user_id = \(user))
      """)
    try db.change(
      """
      update task set revision = (select l.revision from list l where l.id = task.list_id) where id in (
        select id from task where creator_id = \(user) union select id from task where assignee_id = \(user)
        union select task_id from task_event where user_id = \(user)
        union select o.task_id from tag g join task_tag o on o.tag_id = g.id where g.user_id = \(user))
      """)
    // Why something was late is what whoever completed it has said of themselves.
    try db.change(
      """
      update task set missed_reason = null, missed_reason_submitted_at = null where missed_reason is not null and id in (
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
    try Idempotency.erase(user, on: db)
  }

  private static func longestStandingEditor(of list: Int, on db: any Connection) throws -> Membership? {
    try MembershipStore.members(of: list, on: db).filter { $0.role == .editor }
      .min { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }
}
