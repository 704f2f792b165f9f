import Foundation
import Wire

/// A task or sub-task of a list. Not named `Task`, because that is a type of Swift's concurrency library.
struct ListTask: Sendable, Hashable {
  enum Status: String, Sendable, Codable, CaseIterable {
    case pending
    case inProgress = "in_progress"
    case done
  }

  let id: Int
  let list: Int
  let listName: String
  let listColor: String
  /// The task's own color; nil for that of the list.
  var color: String?
  /// The caller's role in the list.
  let role: ListRole
  let parent: Int?
  let clientID: String?
  let creator: UserID?
  var assignee: UserID?
  var title: String
  var note: String?
  var dueAt: Date?
  var status: Status
  var completedAt: Date?
  var missedReason: String?
  var missedReasonAt: Date?
  /// Whether completing the task late requires an explanation.
  var requiresExplanation = false
  var priority: Int
  var starred: Bool
  /// Whether changing the due date requires a reason.
  var strictMode: Bool
  let position: Int
  /// The list's revision at which the task was last changed.
  let revision: Int
  let createdAt: Date
  let updatedAt: Date
  var deletedAt: Date?
  /// A flag of the app. It does not restrict who can read the task.
  var isHidden = false
  var recurrence: Recurrence?
  var location: TaskLocation?
  /// How often the due date has been changed.
  var rescheduleCount = 0
  /// The size of the reasons for these changes in a response, in bytes, including those too old to be shown.
  var reasonSize = 0

  static let titleLength = 1...255
  static let noteMax = 10_000
  static let reasonMax = 1000
  static let subtasksMax = 100

  var isDone: Bool { completedAt != nil }

  func isOverdue(at now: Date) -> Bool {
    guard let dueAt, !isDone else { return false }
    return dueAt < now
  }

  /// The text that a search matches, folded here so that case and accents are ignored in the same way by both engines.
  var words: String {
    Self.folded(([title, note ?? ""] + [location?.name].compactMap(\.self)).joined(separator: "\n"))
  }

  static func folded(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil).lowercased()
  }
}

/// The result of an action on a task: the changed task, and the events for its history.
struct TaskUpdate: Sendable {
  var task: ListTask
  var events: [TaskEvent] = []
}

/// The actions on a task. Repeating an action changes nothing, and adds no event.
extension ListTask {
  /// - Parameters:
  ///   - reason: the reason in the history; for a late task also the explanation.
  ///   - missedReason: the explanation that the app has asked for, when the task is late by the device's clock.
  /// - Throws: 422 for a late task that requires an explanation and has none.
  func completed(
    by user: UserID, reason: String? = nil, missedReason: String? = nil, at now: Date
  ) throws(Failure) -> TaskUpdate {
    var task = self
    guard !isDone else {
      // The explanation may be sent after the completion.
      if task.missedReason == nil, let missedReason { task.explain(missedReason, at: now) }
      return TaskUpdate(task: task)
    }
    let isLate = isOverdue(at: now)
    if let explanation = missedReason ?? (isLate ? reason : nil) { task.explain(explanation, at: now) }
    guard !isLate || !requiresExplanation || task.missedReason != nil else { throw .explanationRequired }
    task.status = .done
    task.completedAt = now
    return TaskUpdate(task: task, events: [TaskEvent(.completed, by: user, reason: missedReason ?? reason, at: now)])
  }

  mutating func explain(_ reason: String?, at now: Date) {
    guard reason != missedReason else { return }
    missedReason = reason
    missedReasonAt = reason.map { _ in now.wholeMilliseconds }
  }

  func reopened(by user: UserID, as status: Status = .pending, at now: Date) -> TaskUpdate {
    guard isDone else { return TaskUpdate(task: self) }
    var task = self
    task.status = status
    task.completedAt = nil
    return TaskUpdate(task: task, events: [TaskEvent(.reopened, by: user, at: now)])
  }

  func assigned(to assignee: UserID?, by user: UserID, at now: Date) -> TaskUpdate {
    guard assignee != self.assignee else { return TaskUpdate(task: self) }
    var task = self
    task.assignee = assignee
    return TaskUpdate(task: task, events: [TaskEvent(assignee == nil ? .unassigned : .assigned, by: user, at: now)])
  }

  /// - Throws: 422 in strict mode without a reason.
  func reassigned(to dueAt: Date?, by user: UserID, reason: String?, at now: Date) throws(Failure) -> TaskUpdate {
    guard dueAt != self.dueAt else { return TaskUpdate(task: self) }
    guard !strictMode || reason != nil else { throw .reasonRequired }
    var (task, event) = (self, TaskEvent(.reassigned, by: user, reason: reason, at: now))
    event.originalDueAt = self.dueAt
    event.newDueAt = dueAt
    task.dueAt = dueAt
    task.rescheduleCount += 1
    task.reasonSize += reason?.sizeInJSON ?? 0
    // The first due date starts the series; later ones do not move it.
    if self.dueAt == nil, let dueAt { task.recurrence?.begin(at: dueAt) }
    return TaskUpdate(task: task, events: [event])
  }

  func deleted(by user: UserID, reason: String?, at now: Date) -> TaskUpdate {
    var task = self
    task.deletedAt = now
    return TaskUpdate(task: task, events: [TaskEvent(.deleted, by: user, reason: reason, at: now)])
  }
}

extension Failure {
  static let taskNotFound = Failure(.notFound, "task_not_found", "There is no such task.")
  static let subtaskNotFound = Failure(.notFound, "subtask_not_found", "There is no such sub-task.")
  static let taskDeleted = Failure(.gone, "task_deleted", "This task has been deleted.")
  static let reasonRequired = Failure.invalid(.init("reason", "is required in strict mode"))
  static let explanationRequired = Failure.invalid(
    .init("missed_reason", "is required: this task is late and wants an explanation"))
  static let parentFixed = Failure.invalid(.init("parent_task_id", "is only for when a task is made"))
  static let dueDateRequired = Failure.invalid(.init("due_at", "is required in strict mode"))
}
