import Foundation

/// Which tasks are shown. What is nil does not matter.
public struct TaskFilter: Sendable, Equatable {
  /// How far a task is.
  public enum Status: String, Sendable {
    case pending
    case inProgress = "in_progress"
    case done
  }

  public var list: SharedList.ID?
  public var status: Status?
  public var starred: Bool?
  /// 0 to 4.
  public var priority: Int?
  public var tag: ListTask.Tag.ID?
  /// `me`, or a user's number.
  public var assignee: String?
  public var dueAfter: Date?
  public var dueBefore: Date?
  public var overdue: Bool?

  /// All tasks.
  public init() {}

  var query: [String: String?] {
    [
      "list_id": list.map(String.init), "status": status?.rawValue, "starred": starred.map(String.init),
      "priority": priority.map(String.init), "tag_id": tag.map(String.init), "assigned_to": assignee,
      "due_after": dueAfter?.rfc3339, "due_before": dueBefore?.rfc3339, "overdue": overdue.map(String.init),
    ]
  }
}
