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
  }

  /// The task with the change. Being done and another due date are things that its trail tells.
  ///
  /// - Throws: 422 in strict mode for another due date without a reason, and for none at all.
  func applied(to task: ListTask, by user: UserID, at now: Date) throws(Failure) -> TaskStep {
    var step = try task.reassigned(to: dueAt.or(task.dueAt), by: user, reason: reason, at: now)
    step.task.title = title.or(task.title) ?? task.title
    step.task.note = note.or(task.note)
    step.task.priority = priority.or(task.priority) ?? task.priority
    step.task.starred = starred.or(task.starred) ?? task.starred
    step.task.strictMode = strictMode.or(task.strictMode) ?? task.strictMode
    step.task.missedReason = missedReason.or(task.missedReason)
    guard !step.task.strictMode || step.task.dueAt != nil else { throw .dueDateRequired }
    guard let status else { return step }
    let moved = Self.moved(step.task, to: status, by: user, at: now)
    return TaskStep(task: moved.task, events: step.events + moved.events)
  }

  /// A new task, not stored yet. Strict unless the body says otherwise, when there is a due date.
  ///
  /// - Throws: 422 for strict mode without a due date.
  func made(in list: List, parent: Int?, by user: UserID, at now: Date) throws(Failure) -> TaskStep {
    let dueAt = dueAt.value
    guard dueAt != nil || strictMode.value != true else { throw .dueDateRequired }
    let task = ListTask(
      id: 0, list: list.id, listName: list.name, listColor: list.color, role: list.role, parent: parent,
      clientID: clientID, creator: user, title: title.value ?? "", note: note.value, dueAt: dueAt, status: .pending,
      missedReason: missedReason.value, priority: priority.value ?? 0, starred: starred.value ?? false,
      strictMode: strictMode.value ?? (dueAt != nil && parent == nil), position: 0, revision: list.revision,
      createdAt: now, updatedAt: now)
    let made = TaskStep(task: task, events: [TaskEvent(.created, by: user, at: now)])
    guard let status else { return made }
    let moved = Self.moved(task, to: status, by: user, at: now)
    return TaskStep(task: moved.task, events: made.events + moved.events)
  }

  private static func moved(_ task: ListTask, to status: ListTask.Status, by user: UserID, at now: Date) -> TaskStep {
    guard status != .done else { return task.completed(by: user, at: now) }
    var step = task.reopened(by: user, as: status, at: now)
    step.task.status = status
    return step
  }
}
