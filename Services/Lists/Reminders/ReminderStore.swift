import Database
import Foundation
import Wire

/// The statements on reminders. `task.remind_at` is when the task is to be looked at next; null when nobody is to be
/// reminded of it any more.
enum ReminderStore {
  static func nextCheck(on db: any Connection) throws -> Date? {
    try db.row("select min(remind_at) as next from task where remind_at is not null")?.optional("next")
  }

  /// The tasks to look at now.
  static func due(at now: Date, limit: Int, on db: any Connection) throws -> [Reminder] {
    try db.rows(
      """
      select task.id, task.remind_at, task.due_at, task.updated_at, list.owner_id
      from task join list on list.id = task.list_id
      where task.remind_at <= \(now) order by task.remind_at limit \(limit)
      """
    ).map(Reminder.init)
  }

  /// Sets when a task is to be looked at next, unless another replica has done so, or the task was changed.
  ///
  /// - Returns: the task as it is now; nil when there is nothing to do.
  static func set(_ reminder: Reminder, to next: Date?, on db: any Connection) throws -> RemindedTask? {
    try db.row(
      """
      update task set remind_at = \(next) where id = \(reminder.task) and remind_at = \(reminder.checkAt)
      returning list_id, title, hidden, creator_id, assignee_id, due_at, completed_at, deleted_at
      """
    ).map { try RemindedTask($0, id: reminder.task) }
  }

  static func set(_ check: Date?, of task: Int, on db: any Connection) throws {
    try db.enqueue("update task set remind_at = \(check) where id = \(task)")
  }

  /// Who is reminded of a task: the assignee, else who has created it, else the list's owner. nil when the list was
  /// deleted.
  static func recipient(of task: RemindedTask, on db: any Connection) throws -> UserID? {
    let row = try db.row("select owner_id from list where id = \(task.list) and deleted_at is null")
    guard let owner: UserID = try row?.get("owner_id") else { return nil }
    for user in [task.assignee, task.creator].compactMap(\.self) {
      if try MembershipStore.role(of: user, in: task.list, on: db) != nil { return user }
    }
    return owner
  }
}

/// A task whose reminder is to be looked at.
struct Reminder: Sendable {
  let task: Int
  let owner: UserID
  let checkAt: Date
  let dueAt: Date?
  let updatedAt: Date

  fileprivate init(_ row: Row) throws {
    updatedAt = try row.get("updated_at")
    task = try row.get("id")
    owner = try row.get("owner_id")
    checkAt = try row.get("remind_at")
    dueAt = try row.optional("due_at")
  }

  /// - Returns: whether the reminder is due, and when the task is to be looked at next, if ever.
  func outcome(at now: Date, in zone: TimeZone) -> (isDue: Bool, next: Date?) {
    guard let dueAt, dueAt > now else { return (false, nil) }
    let time = ReminderTime.time(dueAt: dueAt, in: zone)
    if time > now { return (false, time) }
    // Whoever writes a task after the time of its reminder needs none.
    return (checkAt > dueAt - ReminderTime.leadSeconds || updatedAt < time, nil)
  }
}

/// What a reminder says of a task, and to whom.
struct RemindedTask: Sendable {
  let id: Int
  let list: Int
  let title: String
  let isHidden: Bool
  let creator: UserID?
  let assignee: UserID?
  let dueAt: Date?
  let isOpen: Bool

  fileprivate init(_ row: Row, id: Int) throws {
    self.id = id
    list = try row.get("list_id")
    title = try row.get("title")
    isHidden = try row.get("hidden")
    creator = try row.optional("creator_id")
    assignee = try row.optional("assignee_id")
    dueAt = try row.optional("due_at")
    isOpen =
      try row.optional("completed_at", as: Date.self) == nil && row.optional("deleted_at", as: Date.self) == nil
  }
}
