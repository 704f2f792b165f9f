import Database
import Foundation
import Wire

/// Where a request says that a task is: by itself, on a list, or below another task.
struct TaskPlace: Sendable {
  let id: Int
  var list: Int?
  /// nil: wherever it is.
  var parent: Int?
}

/// A task with what stands beside it in an answer. Every query here finds only what the user may see.
struct TaskView: Sendable {
  let task: ListTask
  var tags: [Tag] = []
  var subtasks: [ListTask] = []
  var reschedules: [Reschedule] = []

  /// Everybody who is named.
  var people: Set<UserID> {
    Set([task.creator, task.assignee].compactMap(\.self)).union(reschedules.compactMap(\.event.user))
  }

  /// - Throws: 404 unless the user is in its list.
  static func task(_ place: TaskPlace, for user: UserID, on db: any Connection) throws -> ListTask {
    try task(place, in: db.rows(query(place, for: user)))
  }

  /// The task of a list below which a new one is put.
  ///
  /// - Throws: 422 for what is none, and for a sub-task; 404 for a list that the user does not see.
  static func newParent(_ id: Int, in list: Int, for user: UserID, on db: any Connection) throws -> Int {
    _ = try ListStore.list(list, for: user, on: db)
    do {
      guard try task(TaskPlace(id: id, list: list), for: user, on: db).parent == nil else { throw Failure.oneLevelOnly }
      return id
    } catch let failure as Failure where failure == .taskNotFound {
      throw Failure.invalid(.init("parent_task_id", "is not a task of this list"))
    }
  }

  private static func query(_ place: TaskPlace, for user: UserID) -> SQL {
    """
    select \(taskColumns), case when l.owner_id = \(user) then 'owner' else m.role end as role
    from task t join list l on l.id = t.list_id
      left join membership m on m.list_id = t.list_id and m.user_id = \(user)
    where t.id = \(place.id) and t.deleted_at is null and l.deleted_at is null
      and (l.owner_id = \(user) or m.user_id is not null)
    """
  }

  private static func task(_ place: TaskPlace, in rows: [Row]) throws -> ListTask {
    guard let row = rows.first else { throw place.parent == nil ? Failure.taskNotFound : .subtaskNotFound }
    let task = try ListTask(row, role: try Role(row))
    guard place.list == nil || place.list == task.list else { throw Failure.taskNotFound }
    guard place.parent == nil || place.parent == task.parent else { throw Failure.subtaskNotFound }
    return task
  }

  static func one(_ place: TaskPlace, for user: UserID, on db: any Connection) throws -> TaskView {
    let found = try db.rows(of: [
      query(place, for: user), TagStore.query(on: [place.id]), subtasksQuery(of: [place.id]),
    ])
    var view = TaskView(task: try task(place, in: found[0]))
    view.tags = try found[1].map(Tag.init)
    view.subtasks = try found[2].map(ListTask.init(subtask:))
    view.reschedules = try TaskTrail.reschedules(of: [view.task], on: db)[place.id] ?? []
    return view
  }

  /// What is on a list, in its order.
  static func all(of list: List, on db: any Connection) throws -> [TaskView] {
    let rows = try db.rows(
      """
      select \(taskColumns) from task t join list l on l.id = t.list_id
      where t.list_id = \(list.id) and t.parent_id is null and t.deleted_at is null order by t.position, t.id
      """)
    return try with(try rows.map { try ListTask($0, role: list.role) }, on: db)
  }

  private static func subtasksQuery(of tasks: [Int]) -> SQL {
    """
    select \(taskColumns) from task t join list l on l.id = t.list_id
    where t.parent_id in (\(list: tasks.padded)) and t.deleted_at is null order by t.parent_id, t.position, t.id
    """
  }

  /// The same tasks with their tags and sub-tasks, in two more queries for some hundreds of them.
  static func with(_ tasks: [ListTask], on db: any Connection) throws -> [TaskView] {
    var (tags, subtasks) = ([Int: [Tag]](), [Int: [ListTask]]())
    for ids in tasks.map(\.id).pieces {
      let found = try db.rows(of: [TagStore.query(on: ids), subtasksQuery(of: ids)])
      for row in found[0] { tags[try row.get("task_id", as: Int.self), default: []].append(try Tag(row)) }
      for row in found[1] {
        let subtask = try ListTask(subtask: row)
        if let parent = subtask.parent { subtasks[parent, default: []].append(subtask) }
      }
    }
    let reschedules = try TaskTrail.reschedules(of: tasks, on: db)
    return tasks.map {
      TaskView(
        task: $0, tags: tags[$0.id] ?? [], subtasks: subtasks[$0.id] ?? [], reschedules: reschedules[$0.id] ?? [])
    }
  }

  /// The parts of a task, in their order.
  static func subtasks(of task: Int, on db: any Connection) throws -> [ListTask] {
    try db.rows(subtasksQuery(of: [task])).map(ListTask.init(subtask:))
  }
}

let taskColumns: SQL = """
  t.id, t.list_id, l.name as list_name, l.color as list_color, t.parent_id, t.client_id, t.creator_id, t.assignee_id,
  t.title, t.note, t.due_at, t.status, t.completed_at, t.missed_reason, t.priority, t.starred, t.strict_mode,
  t.position, t.revision, t.created_at, t.updated_at, t.deleted_at, t.color, t.hidden, t.requires_explanation,
  t.missed_reason_submitted_at, t.reschedule_count, t.reason_size, t.recurrence, t.location
  """

extension Role {
  init(_ row: Row) throws {
    guard let role = Role(rawValue: try row.get("role")) else { throw DatabaseFailure.unreadable(column: "role") }
    self = role
  }
}

extension ListTask {
  /// What a sub-task lets somebody do is said by its task.
  fileprivate init(subtask row: Row) throws { try self.init(row, role: .viewer) }

  init(_ row: Row, role: Role) throws {
    guard let status = Status(rawValue: try row.get("status")) else {
      throw DatabaseFailure.unreadable(column: "status")
    }
    self.init(
      id: try row.get("id"), list: try row.get("list_id"), listName: try row.get("list_name"),
      listColor: try row.get("list_color"), color: try row.optional("color"), role: role,
      parent: try row.optional("parent_id"), clientID: try row.optional("client_id"),
      creator: try row.optional("creator_id"), assignee: try row.optional("assignee_id"), title: try row.get("title"),
      note: try row.optional("note"), dueAt: try row.optional("due_at"), status: status,
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
  /// What is kept as JSON, as few rows have it and nobody asks for its members.
  func object<T: Decodable>(_ column: String) throws -> T? {
    guard let text = try optional(column, as: String.self) else { return nil }
    do { return try JSON.decode(T.self, from: Data(text.utf8)) } catch {
      throw DatabaseFailure.unreadable(column: column)
    }
  }
}
