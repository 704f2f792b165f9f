import Foundation
import Wire

/// What a body says about a task: all of it when one is made, some of it when one is changed.
struct TaskChange: Sendable {
  let clientID: String?
  /// The tags that it has from then on.
  let tags: [Int]?
  private let title: Given<String>
  private let note: Given<String>
  private let dueAt: Given<Date>
  private let status: ListTask.Status?
  private let priority: Given<Int>
  private let starred: Given<Bool>
  private let strictMode: Given<Bool>
  private let missedReason: Given<String>
  private let reason: String?
  private let parent: Given<Int>
  private let color: Given<String>
  private let isHidden: Given<Bool>
  private let requiresExplanation: Given<Bool>
  private let recurrence: RecurrenceChange
  private let location: TaskLocationChange

  static let tagsMax = 20

  init(_ fields: inout Fields) {
    clientID = fields.text("client_id", 0...100).value
    tags = fields.ids("tag_ids", most: Self.tagsMax).value
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

  /// The task that a new one is to be a part of.
  var newParent: Int? { parent.value }

  /// Whether it says how the task comes again, which counts where its author is now.
  var isOfSeries: Bool { recurrence.isGiven }

  /// The task with the change. Being done and another due date are things that its trail tells.
  ///
  /// - Throws: 422 in strict mode for another due date without a reason, and for none at all; for a series that cannot be;
  ///   for another parent.
  func applied(to task: ListTask, by doer: Doer, at now: Date) throws(Failure) -> TaskStep {
    guard parent.or(task.parent) == task.parent else { throw .parentFixed }
    var step = try task.reassigned(to: dueAt.or(task.dueAt), by: doer.user, reason: reason, at: now)
    if missedReason.isGiven { step.task.explain(missedReason.value, at: now) }
    try apply(to: &step.task, movedFrom: task.dueAt, by: doer, at: now)
    guard !step.task.strictMode || step.task.dueAt != nil else { throw .dueDateRequired }
    guard let status else { return step }
    let moved = try Self.moved(step.task, to: status, by: doer.user, at: now)
    return TaskStep(task: moved.task, events: step.events + moved.events)
  }

  /// A new task, not stored yet. Strict unless the body says otherwise, when there is a due date.
  ///
  /// - Throws: 422 for strict mode without a due date, and for a series that cannot be.
  func made(in list: List, parent: Int?, by doer: Doer, at now: Date) throws(Failure) -> TaskStep {
    let dueAt = dueAt.value
    guard dueAt != nil || strictMode.value != true else { throw .dueDateRequired }
    var task = ListTask(
      id: 0, list: list.id, listName: list.name, listColor: list.color, role: list.role, parent: parent,
      clientID: clientID, creator: doer.user, title: "", dueAt: dueAt, status: .pending, priority: 0, starred: false,
      strictMode: dueAt != nil && parent == nil, position: 0, revision: list.revision, createdAt: now, updatedAt: now)
    task.explain(missedReason.value, at: now)
    try apply(to: &task, movedFrom: dueAt, by: doer, at: now)
    let made = TaskStep(task: task, events: [TaskEvent(.created, by: doer.user, at: now)])
    guard let status else { return made }
    let moved = try Self.moved(task, to: status, by: doer.user, at: now)
    return TaskStep(task: moved.task, events: made.events + moved.events)
  }

  /// What leaves nothing in the trail.
  private func apply(
    to task: inout ListTask, movedFrom dueAt: Date?, by doer: Doer, at now: Date
  ) throws(Failure) {
    task.title = title.or(task.title) ?? task.title
    task.note = note.or(task.note)
    task.color = color.or(task.color)
    task.priority = priority.or(task.priority) ?? task.priority
    task.starred = starred.or(task.starred) ?? task.starred
    task.isHidden = isHidden.or(task.isHidden) ?? task.isHidden
    task.strictMode = strictMode.or(task.strictMode) ?? task.strictMode
    task.requiresExplanation = requiresExplanation.or(task.requiresExplanation) ?? task.requiresExplanation
    task.location = location.applied(to: task.location)
    task.recurrence = try recurrence.applied(
      to: task.recurrence, dueAt: task.dueAt, moved: task.dueAt != dueAt, isPart: task.parent != nil, by: doer, at: now)
  }

  private static func moved(
    _ task: ListTask, to status: ListTask.Status, by user: UserID, at now: Date
  ) throws(Failure) -> TaskStep {
    guard status != .done else { return try task.completed(by: user, at: now) }
    var step = task.reopened(by: user, as: status, at: now)
    step.task.status = status
    return step
  }
}
