import Database
import Foundation
import Wire

/// All data of the lists service about one user.
struct PersonalDataExport: Encodable, Sendable {
  let lists: [ExportedList]
  let memberships: [ExportedMembership]
  let people_named: [ExportedEnteredEmail]
  let tasks: [ExportedTask]
  let tasks_on_left_lists: [ExportedLeftTask]
  let task_events: [ExportedTaskEvent]
  let tags: [ExportedTag]
  let completion_days: [String]
  let removed_friends: [UserID]

  /// `tasks` are those on the user's own lists, and those that they created or are assigned on lists that they are a
  /// member of. Of tasks that they created on lists that they have left, only the IDs and times are exported, because
  /// others may have changed the content since.
  init(of user: UserID, on db: any Connection) throws {
    lists = try db.rows(
      """
      select id, name, description, visibility, color, list_type, created_at, updated_at, deleted_at from list
      where owner_id = \(user) order by id
      """
    ).map(ExportedList.init)
    memberships = try db.rows(
      """
      select membership.list_id, list.name, membership.role, membership.named_as, membership.created_at
      from membership join list on list.id = membership.list_id
      where membership.user_id = \(user) order by membership.list_id
      """
    ).map(ExportedMembership.init)
    people_named = try db.rows(
      "select list_id, named_as, created_at from membership where named_by = \(user) order by list_id, id"
    ).map(ExportedEnteredEmail.init)
    tasks = try db.rows(
      """
      select id, list_id, parent_id, title, note, due_at, status, completed_at, missed_reason,
        missed_reason_submitted_at, color, hidden, requires_explanation, recurrence, location, created_at, deleted_at
      from task where id in (
        select task.id from task join membership on membership.list_id = task.list_id
        where task.creator_id = \(user) and membership.user_id = \(user)
        union select task.id from task join membership on membership.list_id = task.list_id
        where task.assignee_id = \(user) and membership.user_id = \(user)
        union select id from task where list_id in (select id from list where owner_id = \(user)))
      order by id
      """
    ).map(ExportedTask.init)
    tasks_on_left_lists = try db.rows(
      """
      select task.id, task.list_id, task.created_at from task join list on list.id = task.list_id
      where task.creator_id = \(user) and list.owner_id <> \(user)
        and not exists (select 1 from membership where list_id = task.list_id and user_id = \(user))
      order by task.id
      """
    ).map(ExportedLeftTask.init)
    task_events = try db.rows(
      """
      select task_id, kind, reason, original_due_at, new_due_at, occurred_at from task_event
      where user_id = \(user) order by id
      """
    ).map(ExportedTaskEvent.init)
    tags = try db.rows("select id, name, color, created_at from tag where user_id = \(user) order by id")
      .map(ExportedTag.init)
    removed_friends = try FriendStore.removed(by: user, on: db).sorted { $0.description < $1.description }
    completion_days = try db.rows("select day from completion_day where user_id = \(user) order by day")
      .map { try $0.get("day") }
  }
}

/// A list that the user owns.
struct ExportedList: Encodable, Sendable {
  let id: Int
  let name: String
  let description: String?
  let visibility: String
  let color: String
  let list_type: String?
  let created_at: Date
  let updated_at: Date
  let deleted_at: Date?

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    name = try row.get("name")
    description = try row.optional("description")
    visibility = try row.get("visibility")
    color = try row.get("color")
    list_type = try row.optional("list_type")
    created_at = try row.get("created_at")
    updated_at = try row.get("updated_at")
    deleted_at = try row.optional("deleted_at")
  }
}

/// An e-mail address that the user has entered to add a member.
struct ExportedEnteredEmail: Encodable, Sendable {
  let list_id: Int
  let named_as: String?
  let created_at: Date

  fileprivate init(_ row: Row) throws {
    list_id = try row.get("list_id")
    named_as = try row.optional("named_as")
    created_at = try row.get("created_at")
  }
}

/// A membership of the user in another user's list.
struct ExportedMembership: Encodable, Sendable {
  let list_id: Int
  let list_name: String
  let role: String
  /// The e-mail address by which another user has added them.
  let named_as: String?
  let created_at: Date

  fileprivate init(_ row: Row) throws {
    list_id = try row.get("list_id")
    list_name = try row.get("name")
    role = try row.get("role")
    named_as = try row.optional("named_as")
    created_at = try row.get("created_at")
  }
}

/// A task or sub-task with its content.
struct ExportedTask: Encodable, Sendable {
  let id: Int
  let list_id: Int
  let parent_task_id: Int?
  let title: String
  let note: String?
  let due_at: Date?
  let status: String
  let completed_at: Date?
  let missed_reason: String?
  let missed_reason_submitted_at: Date?
  let requires_explanation_if_missed: Bool
  let color: String?
  let hidden: Bool
  let recurrence: Recurrence?
  let location: TaskLocation?
  let created_at: Date
  let deleted_at: Date?

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    list_id = try row.get("list_id")
    parent_task_id = try row.optional("parent_id")
    title = try row.get("title")
    note = try row.optional("note")
    due_at = try row.optional("due_at")
    status = try row.get("status")
    completed_at = try row.optional("completed_at")
    missed_reason = try row.optional("missed_reason")
    missed_reason_submitted_at = try row.optional("missed_reason_submitted_at")
    requires_explanation_if_missed = try row.get("requires_explanation")
    color = try row.optional("color")
    hidden = try row.get("hidden")
    recurrence = try row.object("recurrence")
    location = try row.object("location")
    created_at = try row.get("created_at")
    deleted_at = try row.optional("deleted_at")
  }
}

/// A task that the user has created on a list that they have left.
struct ExportedLeftTask: Encodable, Sendable {
  let id: Int
  let list_id: Int
  let created_at: Date

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    list_id = try row.get("list_id")
    created_at = try row.get("created_at")
  }
}

/// An entry of a task's history that the user has caused.
struct ExportedTaskEvent: Encodable, Sendable {
  let task_id: Int
  let kind: String
  let reason: String?
  let original_due_at: Date?
  let new_due_at: Date?
  let occurred_at: Date

  fileprivate init(_ row: Row) throws {
    task_id = try row.get("task_id")
    kind = try row.get("kind")
    reason = try row.optional("reason")
    original_due_at = try row.optional("original_due_at")
    new_due_at = try row.optional("new_due_at")
    occurred_at = try row.get("occurred_at")
  }
}

/// A tag of the user.
struct ExportedTag: Encodable, Sendable {
  let id: Int
  let name: String
  let color: String?
  let created_at: Date

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    name = try row.get("name")
    color = try row.optional("color")
    created_at = try row.get("created_at")
  }
}
