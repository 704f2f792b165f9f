import Foundation
import Wire

/// Something to be done, on a list or below another task. Called so because a `Task` is Swift's.
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
  /// Its own; nil for the list's.
  var color: String?
  /// Of whoever asks, in the list.
  let role: Role
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
  /// Whoever completes it late says why.
  var requiresExplanation = false
  var priority: Int
  var starred: Bool
  /// The due date moves for a reason only.
  var strictMode: Bool
  let position: Int
  /// The list's revision when this was last changed.
  let revision: Int
  let createdAt: Date
  let updatedAt: Date
  var deletedAt: Date?
  /// A mark of the app's: everybody in the list sees the task.
  var isHidden = false
  var recurrence: Recurrence?
  var location: TaskLocation?
  /// How often its due date has been moved.
  var rescheduleCount = 0
  /// How many bytes the reasons for that take in an answer, also those that are too old to be shown.
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

  /// What a search looks in: without case and accents, the same for both engines.
  var words: String {
    Self.folded(([title, note ?? ""] + [location?.name].compactMap(\.self)).joined(separator: "\n"))
  }

  static func folded(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil).lowercased()
  }
}

/// A task after something was done with it, and what its trail says about that.
struct TaskStep: Sendable {
  var task: ListTask
  var events: [TaskEvent] = []
}

/// What can be done with a task. Doing again what has been done changes nothing, and leaves no trace.
extension ListTask {
  /// - Parameters:
  ///   - reason: what its trail says; of a late task also why it is late.
  ///   - missedReason: why it is late, as the app has asked for it by its own clock.
  /// - Throws: 422 for a late task that wants an explanation and has none.
  func completed(
    by user: UserID, reason: String? = nil, missedReason: String? = nil, at now: Date
  ) throws(Failure) -> TaskStep {
    var task = self
    guard !isDone else {
      // The explanation may come after the deed.
      if task.missedReason == nil, let missedReason { task.explain(missedReason, at: now) }
      return TaskStep(task: task)
    }
    let isLate = isOverdue(at: now)
    if let why = missedReason ?? (isLate ? reason : nil) { task.explain(why, at: now) }
    guard !isLate || !requiresExplanation || task.missedReason != nil else { throw .explanationRequired }
    task.status = .done
    task.completedAt = now
    return TaskStep(task: task, events: [TaskEvent(.completed, by: user, reason: missedReason ?? reason, at: now)])
  }

  mutating func explain(_ reason: String?, at now: Date) {
    guard reason != missedReason else { return }
    missedReason = reason
    missedReasonAt = reason.map { _ in now.wholeMilliseconds }
  }

  func reopened(by user: UserID, as status: Status = .pending, at now: Date) -> TaskStep {
    guard isDone else { return TaskStep(task: self) }
    var task = self
    task.status = status
    task.completedAt = nil
    return TaskStep(task: task, events: [TaskEvent(.reopened, by: user, at: now)])
  }

  func assigned(to assignee: UserID?, by user: UserID, at now: Date) -> TaskStep {
    guard assignee != self.assignee else { return TaskStep(task: self) }
    var task = self
    task.assignee = assignee
    return TaskStep(task: task, events: [TaskEvent(assignee == nil ? .unassigned : .assigned, by: user, at: now)])
  }

  /// - Throws: 422 in strict mode without a reason.
  func reassigned(to dueAt: Date?, by user: UserID, reason: String?, at now: Date) throws(Failure) -> TaskStep {
    guard dueAt != self.dueAt else { return TaskStep(task: self) }
    guard !strictMode || reason != nil else { throw .reasonRequired }
    var (task, event) = (self, TaskEvent(.reassigned, by: user, reason: reason, at: now))
    event.originalDueAt = self.dueAt
    event.newDueAt = dueAt
    task.dueAt = dueAt
    task.rescheduleCount += 1
    task.reasonSize += reason?.sizeInJSON ?? 0
    // A series that had no time has one now; one that has keeps it, wherever this task is moved.
    if self.dueAt == nil, let dueAt { task.recurrence?.begin(at: dueAt) }
    return TaskStep(task: task, events: [event])
  }

  func deleted(by user: UserID, reason: String?, at now: Date) -> TaskStep {
    var task = self
    task.deletedAt = now
    return TaskStep(task: task, events: [TaskEvent(.deleted, by: user, reason: reason, at: now)])
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
