import Database
import Foundation
import Wire

/// All statements that change the `task` table, each inside a transaction that locks the list.
enum TaskStore {
  /// The distance between the positions of new tasks, so that other tasks can be moved in between.
  static let positionStep = 65_536

  /// The ID of the created task, or of an existing one with the same `client_id`.
  enum CreateResult: Sendable {
    case created(Int)
    case existing(Int)
  }

  /// - Throws: 404 for non-members, 403 for viewers, 409 when the list is full or the `client_id` belongs to a task
  ///   with another parent, 410 when the task with this `client_id` was deleted. `DatabaseFailure.unique` when a
  ///   concurrent request has used the same `client_id`: running it again finds that task.
  static func create(
    _ change: TaskChange, in list: Int, below parent: Int? = nil, by actingUser: ActingUser, at now: Date,
    on db: any Connection
  ) throws -> CreateResult {
    let user = actingUser.user
    if let existing = try existingTask(change.clientID, in: list, below: parent, for: user, on: db) {
      return .existing(existing)
    }
    let list = try ListStore.lock(list, for: user, on: db)
    let update = try change.newTask(in: list, parent: parent, by: actingUser, at: now)
    guard list.taskCount < List.tasksMax else { throw Failure.listFull }
    try list.requireRoom(forText: update.task.textSize)
    if let parent {
      let parent = try TaskDetails.task(.init(id: parent), for: user, on: db).id
      try requireRoom(for: update.task, in: list, below: parent, on: db)
    }
    let position = try lastPosition(in: list.id, below: parent, on: db) + positionStep
    guard let id: Int = try db.row(insertion(of: update.task, at: position))?.get("id") else {
      throw DatabaseFailure.other("a new task has no id")
    }
    try TextSizeStore.count(new: [update.task], on: db)
    try record(update.events, of: id, by: actingUser, on: db)
    TaskEvents.created(update.task, withID: id, at: position, by: user, on: db)
    if let parent {
      try touch(parent, at: list.revision, on: db)
      try countSubtasks(1, in: list.id, on: db)
    } else {
      try count(1, completed: update.task.isDone ? 1 : 0, in: list.id, on: db)
    }
    if let tags = change.tags { try TagStore.set(tags, on: id, by: user, on: db) }
    if update.task.isDone {
      try TaskSeries.createNext(
        update.task, withID: id, at: position, in: list, with: list.taskCount + 1, grownBy: update.task.textSize,
        by: actingUser, at: now, on: db)
    }
    return .created(id)
  }

  /// Applies `rule` to a task, and stores the result when it differs.
  ///
  /// - Parameter ifMatch: the versions to which the change applies.
  /// - Throws: 404 for non-members, 403 for viewers, 412 when the task has another version.
  static func change(
    _ reference: TaskReference, by actingUser: ActingUser, ifMatch: IfMatch = .any, tags: [Int]? = nil, at now: Date,
    on db: any Connection, _ rule: (ListTask) throws -> TaskUpdate
  ) throws {
    let user = actingUser.user
    let current = try TaskDetails.task(reference, for: user, on: db)
    try current.role.requireEditor()
    // A repeated request changes nothing, and needs no lock.
    if tags == nil, case .any = ifMatch, try rule(current).task == current { return }
    let list = try ListStore.lock(current.list, for: user, on: db)
    let task = try TaskDetails.task(reference, for: user, on: db)
    try ifMatch.require(task.revision)
    let update = try rule(task)
    guard update.task != task || tags != nil else { return }
    try TextSizeStore.require(from: task, to: update.task, in: list, on: db)
    try TextSizeStore.count(from: task, to: update.task, on: db)
    try save(update.task, at: list.revision, now: now, on: db)
    let check = update.task.reminderCheck(at: now)
    if check != task.reminderCheck(at: now) { try ReminderStore.set(check, of: task.id, on: db) }
    try record(update.events, of: task.id, by: actingUser, on: db)
    if let tags { try TagStore.set(tags, on: task.id, by: user, on: db) }
    let subtasks = try updateCounts(from: task, to: update.task, at: list.revision, on: db)
    TaskEvents.changed(
      update.task, update.events, subtasks: subtasks, at: list.revision, by: user, now: now, on: db)
    guard !task.isDone, update.task.isDone, update.task.deletedAt == nil else { return }
    try TaskSeries.createNext(
      update.task, withID: task.id, at: task.position, in: list, with: list.taskCount,
      grownBy: update.task.textSize - task.textSize, by: actingUser, at: now, on: db)
  }

  /// Stores events; a completion also counts for the user's streak.
  static func record(_ events: [TaskEvent], of task: Int, by actingUser: ActingUser, on db: any Connection) throws {
    try TaskEventStore.add(events, to: task, on: db)
    for event in events where event.kind == .completed { try Streak.record(event.at, of: actingUser, on: db) }
  }

  /// Updates the counts of the list, deletes the sub-tasks of a deleted task, and sets a new revision on the parent of
  /// a sub-task.
  ///
  /// - Returns: the sub-tasks that were deleted.
  private static func updateCounts(
    from old: ListTask, to new: ListTask, at revision: Int, on db: any Connection
  ) throws -> [Int] {
    let isDeleted = new.deletedAt != nil
    if let parent = old.parent {
      if isDeleted { try countSubtasks(-1, in: old.list, on: db) }
      try touch(parent, at: revision, on: db)
      return []
    }
    let completed = (new.isDone && !isDeleted ? 1 : 0) - (old.isDone ? 1 : 0)
    try count(isDeleted ? -1 : 0, completed: completed, in: old.list, on: db)
    guard isDeleted else { return [] }
    let deletedSubtasks = try db.rows(
      """
      update task set deleted_at = \(new.deletedAt), revision = \(revision)
      where parent_id = \(old.id) and deleted_at is null returning id
      """
    ).map { try $0.get("id", as: Int.self) }
    try countSubtasks(-deletedSubtasks.count, in: old.list, on: db)
    return deletedSubtasks
  }

  /// The ID of the task with this `client_id`; nil when there is none.
  private static func existingTask(
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
      select count(subtask.id) as subtasks,
        parent.text_size + cast(coalesce(sum(subtask.text_size), 0) as bigint) as size
      from task parent left join task subtask on subtask.parent_id = parent.id and subtask.deleted_at is null
      where parent.id = \(parent) group by parent.id, parent.text_size
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

  /// Inserts a task and returns its ID; returns no row when `previous` already has a successor.
  static func insertion(of task: ListTask, at position: Int, following previous: Int? = nil) throws -> SQL {
    """
    insert into task (list_id, parent_id, client_id, creator_id, assignee_id, title, note, words, text_size,
      reason_size, due_at, status, completed_at, missed_reason, missed_reason_submitted_at, requires_explanation,
      priority, starred, hidden, strict_mode, color, recurrence, location, previous_id, position, revision,
      created_at, updated_at, remind_at)
    values (\(task.list), \(task.parent), \(task.clientID), \(task.creator), \(task.assignee), \(task.title),
      \(task.note), \(task.words), \(task.textSize), \(task.reasonSize), \(task.dueAt), \(task.status.rawValue),
      \(task.completedAt), \(task.missedReason), \(task.missedReasonAt), \(task.requiresExplanation),
      \(task.priority), \(task.starred), \(task.isHidden), \(task.strictMode), \(task.color),
      \(try text(task.recurrence)), \(try text(task.location)), \(previous), \(position), \(task.revision),
      \(task.createdAt), \(task.updatedAt), \(task.reminderCheck(at: task.createdAt)))
    on conflict (previous_id) where previous_id is not null do nothing returning id
    """
  }

  private static func text(_ value: (some Encodable)?) throws -> String? {
    try value.map { String(decoding: try JSON.encodeExact($0), as: UTF8.self) }
  }

  private static func save(_ task: ListTask, at revision: Int, now: Date, on db: any Connection) throws {
    try db.enqueue(
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
    try db.enqueue("update task set revision = \(revision) where id = \(task)")
  }

  static func countSubtasks(_ subtasks: Int, in list: Int, on db: any Connection) throws {
    guard subtasks != 0 else { return }
    try db.enqueue("update list set subtask_count = subtask_count + \(subtasks) where id = \(list)")
  }

  static func count(_ tasks: Int, completed: Int, in list: Int, on db: any Connection) throws {
    guard tasks != 0 || completed != 0 else { return }
    try db.enqueue(
      """
      update list set task_count = task_count + \(tasks), completed_count = completed_count + \(completed)
      where id = \(list)
      """)
  }
}
