import Database
import Foundation
import Wire

/// Every statement that changes tasks, each within a transaction that holds their list.
enum TaskStore {
  /// How far apart new tasks are placed, so that others fit in between.
  static let positionStep = 65_536

  /// A task that was stored, or that was there under the same `client_id`.
  enum Made: Sendable {
    case new(Int)
    case known(Int)
  }

  /// - Throws: 404 for strangers, 403 for viewers, 409 when the list is full or the `client_id` is that of a task
  ///   elsewhere in it, 410 when it was made under this `client_id` and deleted since. The unique index's failure when somebody has taken the `client_id` a moment ago:
  ///   run again, it finds what they have made.
  static func create(
    _ change: TaskChange, in list: Int, below parent: Int? = nil, by doer: Doer, at now: Date, on db: any Connection
  ) throws -> Made {
    let user = doer.user
    if let known = try known(change.clientID, in: list, below: parent, for: user, on: db) { return .known(known) }
    let list = try ListStore.hold(list, for: user, on: db)
    let step = try change.made(in: list, parent: parent, by: doer, at: now)
    guard list.taskCount < List.tasksMax else { throw Failure.listFull }
    try list.requireRoom(forText: step.task.textSize)
    if let parent {
      let parent = try TaskView.task(.init(id: parent), for: user, on: db).id
      try requireRoom(for: step.task, in: list, below: parent, on: db)
    }
    let position = try lastPosition(in: list.id, below: parent, on: db) + positionStep
    guard let id: Int = try db.row(insertion(of: step.task, at: position))?.get("id") else {
      throw DatabaseFailure.other("a new task has no id")
    }
    try TextSizes.count(new: [step.task], on: db)
    try note(step.events, of: id, by: doer, on: db)
    if let parent {
      try touch(parent, at: list.revision, on: db)
      try countSubtasks(1, in: list.id, on: db)
    } else {
      try count(1, completed: step.task.isDone ? 1 : 0, in: list.id, on: db)
    }
    if let tags = change.tags { try TagStore.set(tags, on: id, by: user, on: db) }
    if step.task.isDone {
      try Series.follow(
        step.task, withID: id, at: position, in: list, with: list.taskCount + 1, grownBy: step.task.textSize, by: doer,
        at: now, on: db)
    }
    return .new(id)
  }

  /// Does something with a task, when that changes it.
  ///
  /// - Parameter expected: the versions that the change is meant for.
  /// - Throws: 404 for strangers, 403 for viewers, 412 when it is another version by now.
  static func change(
    _ place: TaskPlace, by doer: Doer, expecting expected: Expectation = .any, tags: [Int]? = nil, at now: Date,
    on db: any Connection, _ rule: (ListTask) throws -> TaskStep
  ) throws {
    let user = doer.user
    let seen = try TaskView.task(place, for: user, on: db)
    try seen.role.requireEditor()
    // Doing again what has been done takes no lock.
    if tags == nil, case .any = expected, try rule(seen).task == seen { return }
    let list = try ListStore.hold(seen.list, for: user, on: db)
    let task = try TaskView.task(place, for: user, on: db)
    try expected.require(task.revision)
    let step = try rule(task)
    guard step.task != task || tags != nil else { return }
    try TextSizes.require(from: task, to: step.task, in: list, on: db)
    try TextSizes.count(from: task, to: step.task, on: db)
    try save(step.task, at: list.revision, now: now, on: db)
    try note(step.events, of: task.id, by: doer, on: db)
    if let tags { try TagStore.set(tags, on: task.id, by: user, on: db) }
    try follow(from: task, to: step.task, at: list.revision, on: db)
    guard !task.isDone, step.task.isDone, step.task.deletedAt == nil else { return }
    try Series.follow(
      step.task, withID: task.id, at: task.position, in: list, with: list.taskCount,
      grownBy: step.task.textSize - task.textSize, by: doer, at: now, on: db)
  }

  static func note(_ events: [TaskEvent], of task: Int, by doer: Doer, on db: any Connection) throws {
    try TaskTrail.add(events, to: task, on: db)
    for event in events where event.kind == .completed { try Streak.note(event.at, of: doer, on: db) }
  }

  /// Keeps the list's counts, and shows the parent of a sub-task as changed.
  private static func follow(from old: ListTask, to new: ListTask, at revision: Int, on db: any Connection) throws {
    let isGone = new.deletedAt != nil
    if let parent = old.parent {
      if isGone { try countSubtasks(-1, in: old.list, on: db) }
      return try touch(parent, at: revision, on: db)
    }
    let completed = (new.isDone && !isGone ? 1 : 0) - (old.isDone ? 1 : 0)
    try count(isGone ? -1 : 0, completed: completed, in: old.list, on: db)
    guard isGone else { return }
    let parts = try db.change(
      """
      update task set deleted_at = \(new.deletedAt), revision = \(revision)
      where parent_id = \(old.id) and deleted_at is null
      """)
    try countSubtasks(-parts, in: old.list, on: db)
  }

  private static func known(
    _ clientID: String?, in list: Int, below parent: Int?, for user: UserID, on db: any Connection
  ) throws -> Int? {
    guard let clientID else { return nil }
    try ListStore.list(list, for: user, on: db).role.requireEditor()
    let row = try db.row(
      "select id, parent_id, deleted_at from task where list_id = \(list) and client_id = \(clientID)")
    guard let row else { return nil }
    guard try row.optional("parent_id", as: Int.self) == parent else { throw Failure.clientIDTaken }
    guard try row.optional("deleted_at", as: Date.self) == nil else { throw Failure.taskDeleted }
    return try row.get("id")
  }

  private static func requireRoom(
    for task: ListTask, in list: List, below parent: Int, on db: any Connection
  ) throws {
    guard list.subtaskCount < List.subtasksMax else { throw Failure.listFull }
    let row = try db.row(
      """
      select count(s.id) as subtasks, p.text_size + cast(coalesce(sum(s.text_size), 0) as bigint) as size
      from task p left join task s on s.parent_id = p.id and s.deleted_at is null
      where p.id = \(parent) group by p.id, p.text_size
      """)
    let (subtasks, size) = (try row?.get("subtasks") ?? 0, try row?.get("size") ?? 0)
    guard subtasks < ListTask.subtasksMax, size + task.textSize <= ListTask.textSizeMax else {
      throw Failure.listFull
    }
  }

  private static func lastPosition(in list: Int, below parent: Int?, on db: any Connection) throws -> Int {
    let row =
      if let parent {
        try db.row("select position from task where parent_id = \(parent) order by position desc limit 1")
      } else {
        try db.row(
          """
          select position from task where list_id = \(list) and parent_id is null and deleted_at is null
          order by position desc limit 1
          """)
      }
    return try row?.get("position") ?? 0
  }

  /// Returns its id; nothing when the task that it follows is followed already.
  static func insertion(of task: ListTask, at position: Int, following previous: Int? = nil) throws -> SQL {
    """
    insert into task (list_id, parent_id, client_id, creator_id, assignee_id, title, note, words, text_size,
      reason_size, due_at, status, completed_at, missed_reason, missed_reason_submitted_at, requires_explanation,
      priority, starred, hidden, strict_mode, color, recurrence, location, previous_id, position, revision,
      created_at, updated_at)
    values (\(task.list), \(task.parent), \(task.clientID), \(task.creator), \(task.assignee), \(task.title),
      \(task.note), \(task.words), \(task.textSize), \(task.reasonSize), \(task.dueAt), \(task.status.rawValue),
      \(task.completedAt), \(task.missedReason), \(task.missedReasonAt), \(task.requiresExplanation),
      \(task.priority), \(task.starred), \(task.isHidden), \(task.strictMode), \(task.color), \(try text(task.recurrence)),
      \(try text(task.location)), \(previous), \(position), \(task.revision), \(task.createdAt), \(task.updatedAt))
    on conflict (previous_id) where previous_id is not null do nothing returning id
    """
  }

  private static func text(_ value: (some Encodable)?) throws -> String? {
    try value.map { String(decoding: try JSON.encodeExact($0), as: UTF8.self) }
  }

  private static func save(_ task: ListTask, at revision: Int, now: Date, on db: any Connection) throws {
    try db.later(
      """
      update task set assignee_id = \(task.assignee), title = \(task.title), note = \(task.note),
        words = \(task.words), text_size = \(task.textSize), reason_size = \(task.reasonSize),
        due_at = \(task.dueAt), status = \(task.status.rawValue),
        completed_at = \(task.completedAt), missed_reason = \(task.missedReason), priority = \(task.priority),
        starred = \(task.starred), strict_mode = \(task.strictMode), deleted_at = \(task.deletedAt),
        missed_reason_submitted_at = \(task.missedReasonAt), requires_explanation = \(task.requiresExplanation),
        hidden = \(task.isHidden), color = \(task.color), recurrence = \(try text(task.recurrence)),
        location = \(try text(task.location)), reschedule_count = \(task.rescheduleCount),
        revision = \(revision), updated_at = \(now) where id = \(task.id)
      """)
  }

  private static func touch(_ task: Int, at revision: Int, on db: any Connection) throws {
    try db.later("update task set revision = \(revision) where id = \(task)")
  }

  static func countSubtasks(_ subtasks: Int, in list: Int, on db: any Connection) throws {
    guard subtasks != 0 else { return }
    try db.later("update list set subtask_count = subtask_count + \(subtasks) where id = \(list)")
  }

  static func count(_ tasks: Int, completed: Int, in list: Int, on db: any Connection) throws {
    guard tasks != 0 || completed != 0 else { return }
    try db.later(
      """
      update list set task_count = task_count + \(tasks), completed_count = completed_count + \(completed)
      where id = \(list)
      """)
  }
}
