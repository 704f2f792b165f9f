import Database
import Foundation
import Wire

/// A task as the path of a request identifies it: by its ID, optionally with its list and its parent task.
struct TaskReference: Sendable {
  let id: Int
  var list: Int?
  /// nil matches any parent, or none.
  var parent: Int?
}

/// A task with the related rows that a response shows: tags, sub-tasks and reschedules. Queries are restricted to lists
/// that the user may read.
struct TaskDetails: Sendable {
  let task: ListTask
  var tags: [Tag] = []
  var subtasks: [ListTask] = []
  var reschedules: [Reschedule] = []

  /// The users whom the response names.
  var people: Set<UserID> {
    Set([task.creator, task.assignee].compactMap(\.self)).union(reschedules.compactMap(\.event.user))
  }

  /// - Throws: 404 unless the user owns its list or is a member.
  static func task(_ reference: TaskReference, for user: UserID, on db: any Connection) throws -> ListTask {
    try task(reference, in: db.rows(query(reference, for: user)))
  }

  /// The ID of the task of a list that becomes the parent of a new one.
  ///
  /// - Throws: 422 when there is no such task, and for a sub-task; 404 for a list that the user may not read.
  static func newParent(_ id: Int, in list: Int, for user: UserID, on db: any Connection) throws -> Int {
    _ = try ListStore.list(list, for: user, on: db)
    do {
      let parent = try task(TaskReference(id: id, list: list), for: user, on: db)
      guard parent.parent == nil else { throw Failure.oneLevelOnly }
      return id
    } catch let failure as Failure where failure == .taskNotFound {
      throw Failure.invalid(.init("parent_task_id", "is not a task of this list"))
    }
  }

  private static func query(_ reference: TaskReference, for user: UserID) -> SQL {
    """
    select \(taskColumns), case when list.owner_id = \(user) then 'owner' else membership.role end as role
    from task join list on list.id = task.list_id
      left join membership on membership.list_id = task.list_id and membership.user_id = \(user)
    where task.id = \(reference.id) and task.deleted_at is null and list.deleted_at is null
      and (list.owner_id = \(user) or membership.user_id is not null)
    """
  }

  private static func task(_ reference: TaskReference, in rows: [Row]) throws -> ListTask {
    guard let row = rows.first else { throw reference.parent == nil ? Failure.taskNotFound : .subtaskNotFound }
    let task = try ListTask(row, role: try row.enumValue("role"))
    guard reference.list == nil || reference.list == task.list else { throw Failure.taskNotFound }
    guard reference.parent == nil || reference.parent == task.parent else { throw Failure.subtaskNotFound }
    return task
  }

  static func one(_ reference: TaskReference, for user: UserID, on db: any Connection) throws -> TaskDetails {
    let found = try db.rows(of: [
      query(reference, for: user), TagStore.query(on: [reference.id]), subtasksQuery(of: [reference.id]),
    ])
    var details = TaskDetails(task: try task(reference, in: found[0]))
    details.tags = try found[1].map(Tag.init)
    details.subtasks = try found[2].map(ListTask.init(subtask:))
    details.reschedules = try TaskEventStore.reschedules(of: [details.task], on: db)[reference.id] ?? []
    return details
  }

  /// All tasks of a list, in order.
  static func all(of list: List, on db: any Connection) throws -> [TaskDetails] {
    let rows = try db.rows(
      """
      select \(taskColumns) from task join list on list.id = task.list_id
      where task.list_id = \(list.id) and task.parent_id is null and task.deleted_at is null
      order by task.position, task.id
      """)
    return try details(of: try rows.map { try ListTask($0, role: list.role) }, on: db)
  }

  private static func subtasksQuery(of tasks: [Int]) -> SQL {
    """
    select \(taskColumns) from task join list on list.id = task.list_id
    where task.parent_id in (\(list: tasks.padded)) and task.deleted_at is null
    order by task.parent_id, task.position, task.id
    """
  }

  /// Adds tags, sub-tasks and reschedules to tasks, with a constant number of queries for each 512 of them.
  static func details(of tasks: [ListTask], on db: any Connection) throws -> [TaskDetails] {
    var (tags, subtasks) = ([Int: [Tag]](), [Int: [ListTask]]())
    for ids in tasks.map(\.id).chunks {
      let found = try db.rows(of: [TagStore.query(on: ids), subtasksQuery(of: ids)])
      for row in found[0] { tags[try row.get("task_id", as: Int.self), default: []].append(try Tag(row)) }
      for row in found[1] {
        let subtask = try ListTask(subtask: row)
        if let parent = subtask.parent { subtasks[parent, default: []].append(subtask) }
      }
    }
    let reschedules = try TaskEventStore.reschedules(of: tasks, on: db)
    return tasks.map {
      TaskDetails(
        task: $0, tags: tags[$0.id] ?? [], subtasks: subtasks[$0.id] ?? [], reschedules: reschedules[$0.id] ?? [])
    }
  }

  /// The sub-tasks of a task, in order.
  static func subtasks(of task: Int, on db: any Connection) throws -> [ListTask] {
    try db.rows(subtasksQuery(of: [task])).map(ListTask.init(subtask:))
  }
}

let taskColumns: SQL = """
  task.id, task.list_id, list.name as list_name, list.color as list_color, task.parent_id, task.client_id,
  task.creator_id, task.assignee_id, task.title, task.note, task.due_at, task.status, task.completed_at,
  task.missed_reason, task.priority, task.starred, task.strict_mode, task.position, task.revision, task.created_at,
  task.updated_at, task.deleted_at, task.color, task.hidden, task.requires_explanation,
  task.missed_reason_submitted_at, task.reschedule_count, task.reason_size, task.recurrence, task.location
  """

extension ListTask {
  /// The role does not matter here: the JSON of a sub-task contains no permissions.
  fileprivate init(subtask row: Row) throws { try self.init(row, role: .viewer) }

  init(_ row: Row, role: ListRole) throws {
    self.init(
      id: try row.get("id"), list: try row.get("list_id"), listName: try row.get("list_name"),
      listColor: try row.get("list_color"), color: try row.optional("color"), role: role,
      parent: try row.optional("parent_id"), clientID: try row.optional("client_id"),
      creator: try row.optional("creator_id"), assignee: try row.optional("assignee_id"), title: try row.get("title"),
      note: try row.optional("note"), dueAt: try row.optional("due_at"), status: try row.enumValue("status"),
      completedAt: try row.optional("completed_at"), missedReason: try row.optional("missed_reason"),
      missedReasonAt: try row.optional("missed_reason_submitted_at"),
      requiresExplanation: try row.get("requires_explanation"), priority: try row.get("priority"),
      starred: try row.get("starred"), strictMode: try row.get("strict_mode"), position: try row.get("position"),
      revision: try row.get("revision"), createdAt: try row.get("created_at"), updatedAt: try row.get("updated_at"),
      deletedAt: try row.optional("deleted_at"), isHidden: try row.get("hidden"),
      recurrence: try row.object("recurrence"), location: try row.object("location"),
      rescheduleCount: try row.get("reschedule_count"), reasonSize: try row.get("reason_size"))
  }
}

extension Row {
  /// Decodes a column that stores JSON; nil for null. JSON is used for values that few rows have and no query selects
  /// by.
  func object<T: Decodable>(_ column: String) throws -> T? {
    guard let text = try optional(column, as: String.self) else { return nil }
    do { return try JSON.decode(T.self, from: Data(text.utf8)) } catch {
      throw DatabaseFailure.unreadable(column: column)
    }
  }
}

extension TaskDetails {
  /// Tasks of a list, in the order of `ids`. Deleted tasks are left out.
  static func withIDs(_ ids: [Int], of list: List, on db: any Connection) throws -> [TaskDetails] {
    let rows = try db.rows(
      """
      select \(taskColumns) from task join list on list.id = task.list_id
      where task.id in (\(list: ids.padded)) and task.list_id = \(list.id) and task.parent_id is null
        and task.deleted_at is null
      """)
    let tasks = try rows.reduce(into: [Int: ListTask]()) { tasks, row in
      let task = try ListTask(row, role: list.role)
      tasks[task.id] = task
    }
    return try details(of: ids.compactMap { tasks[$0] }, on: db)
  }

  /// Tasks and sub-tasks of all lists that the user may read, in the order of `ids`. Deleted tasks are left out.
  static func withIDs(_ ids: [Int], for user: UserID, on db: any Connection) throws -> [TaskDetails] {
    let rows = try db.rows(
      """
      select \(taskColumns), case when list.owner_id = \(user) then 'owner' else membership.role end as role
      from task join list on list.id = task.list_id
        left join membership on membership.list_id = task.list_id and membership.user_id = \(user)
      where task.id in (\(list: ids.padded)) and task.deleted_at is null and list.deleted_at is null
        and (list.owner_id = \(user) or membership.user_id is not null)
      """)
    let tasks = try rows.reduce(into: [Int: ListTask]()) { tasks, row in
      let task = try ListTask(row, role: try row.enumValue("role"))
      tasks[task.id] = task
    }
    return try details(of: ids.compactMap { tasks[$0] }, on: db)
  }
}
