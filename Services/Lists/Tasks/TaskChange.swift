import Foundation
import Wire

/// The fields of a request that creates a task or changes parts of one.
struct TaskChange: Sendable {
  let clientID: String?
  /// The complete new set of tags; nil leaves them.
  let tags: [Int]?
  private let title: FieldValue<String>
  private let note: FieldValue<String>
  private let dueAt: FieldValue<Date>
  private let status: ListTask.Status?
  private let priority: FieldValue<Int>
  private let starred: FieldValue<Bool>
  private let strictMode: FieldValue<Bool>
  private let missedReason: FieldValue<String>
  private let reason: String?
  private let parent: FieldValue<Int>
  private let color: FieldValue<String>
  private let isHidden: FieldValue<Bool>
  private let requiresExplanation: FieldValue<Bool>
  private let recurrence: RecurrenceChange
  private let location: TaskLocationChange

  static let tagsMax = 20

  init(_ fields: inout RequestFields) {
    clientID = fields.text("client_id", 0...100).value
    tags = fields.ids("tag_ids", max: Self.tagsMax).value
    title = fields.text("title", ListTask.titleLength)
    note = fields.text("note", 0...ListTask.noteMax)
    dueAt = fields.time("due_at")
    status = fields.choice("status", ListTask.Status.allCases.map(\.rawValue)).value.flatMap(ListTask.Status.init)
    priority = fields.number("priority", 0...4)
    starred = fields.flag("starred")
    strictMode = fields.flag("strict_mode")
    missedReason = fields.text("missed_reason", 0...ListTask.reasonMax)
    reason = fields.text("reason", 0...ListTask.reasonMax).value
    parent = fields.number("parent_task_id", 1...Int.max, orNull: true)
    color = fields.text("color", 0...32)
    isHidden = fields.flag("hidden")
    requiresExplanation = fields.flag("requires_explanation_if_missed")
    recurrence = RecurrenceChange(&fields)
    location = TaskLocationChange(&fields)
  }

  /// The ID of the parent of a new sub-task; nil for a new task.
  var newParent: Int? { parent.value }

  /// Whether it has recurrence fields, for which the author's current time zone is needed.
  var changesRecurrence: Bool { recurrence.isPresent }

  /// The task with the change, and events for a changed status or due date.
  ///
  /// - Throws: 422 in strict mode for a changed due date without a reason, and for a missing due date; for an invalid
  ///   recurrence; for another parent.
  func applied(to task: ListTask, by actingUser: ActingUser, at now: Date) throws(Failure) -> TaskUpdate {
    guard parent.applied(to: task.parent) == task.parent else { throw .parentFixed }
    var update = try task.reassigned(to: dueAt.applied(to: task.dueAt), by: actingUser.user, reason: reason, at: now)
    if missedReason.isPresent { update.task.explain(missedReason.value, at: now) }
    try apply(to: &update.task, movedFrom: task.dueAt, by: actingUser, at: now)
    guard !update.task.strictMode || update.task.dueAt != nil else { throw .dueDateRequired }
    guard let status else { return update }
    let statusUpdate = try Self.withStatus(update.task, to: status, by: actingUser.user, at: now)
    return TaskUpdate(task: statusUpdate.task, events: update.events + statusUpdate.events)
  }

  /// A new task, not stored yet. A task with a due date is in strict mode unless the request disables it; a sub-task is
  /// not.
  ///
  /// - Throws: 422 for strict mode without a due date, for an invalid recurrence, and for a late completion without a
  ///   required explanation.
  func newTask(in list: List, parent: Int?, by actingUser: ActingUser, at now: Date) throws(Failure) -> TaskUpdate {
    let dueAt = dueAt.value
    guard dueAt != nil || strictMode.value != true else { throw .dueDateRequired }
    var task = ListTask(
      id: 0, list: list.id, listName: list.name, listColor: list.color, role: list.role, parent: parent,
      clientID: clientID, creator: actingUser.user, title: "", dueAt: dueAt, status: .pending, priority: 0,
      starred: false, strictMode: dueAt != nil && parent == nil, position: 0, revision: list.revision, createdAt: now,
      updatedAt: now)
    task.explain(missedReason.value, at: now)
    try apply(to: &task, movedFrom: dueAt, by: actingUser, at: now)
    let created = TaskUpdate(task: task, events: [TaskEvent(.created, by: actingUser.user, at: now)])
    guard let status else { return created }
    let statusUpdate = try Self.withStatus(task, to: status, by: actingUser.user, at: now)
    return TaskUpdate(task: statusUpdate.task, events: created.events + statusUpdate.events)
  }

  /// Applies the fields that add no event to the history.
  private func apply(
    to task: inout ListTask, movedFrom dueAt: Date?, by actingUser: ActingUser, at now: Date
  ) throws(Failure) {
    task.title = title.applied(to: task.title) ?? task.title
    task.note = note.applied(to: task.note)
    task.color = color.applied(to: task.color)
    task.priority = priority.applied(to: task.priority) ?? task.priority
    task.starred = starred.applied(to: task.starred) ?? task.starred
    task.isHidden = isHidden.applied(to: task.isHidden) ?? task.isHidden
    task.strictMode = strictMode.applied(to: task.strictMode) ?? task.strictMode
    task.requiresExplanation = requiresExplanation.applied(to: task.requiresExplanation) ?? task.requiresExplanation
    task.location = location.applied(to: task.location)
    task.recurrence = try recurrence.applied(
      to: task.recurrence, dueAt: task.dueAt, moved: task.dueAt != dueAt, isSubtask: task.parent != nil,
      by: actingUser, at: now)
  }

  /// Completes or reopens the task.
  private static func withStatus(
    _ task: ListTask, to status: ListTask.Status, by user: UserID, at now: Date
  ) throws(Failure) -> TaskUpdate {
    guard status != .done else { return try task.completed(by: user, at: now) }
    var update = task.reopened(by: user, as: status, at: now)
    update.task.status = status
    return update
  }
}
