import Foundation

/// A task of a list.
public struct ListTask: Sendable, Equatable, Codable, Identifiable {
  /// A word by which the user groups tasks.
  public struct Tag: Sendable, Equatable, Codable, Identifiable {
    public let id: Int
    public let name: String
    public let color: String?
  }

  /// An entry of the task's history.
  public struct Event: Sendable, Equatable, Codable, Identifiable {
    public let id: Int
    public let kind: String
    public let reason: String?
    public let user: SharedList.Person?
    public let occurredAt: Date
  }

  /// A part of a task.
  public struct Subtask: Sendable, Equatable, Codable, Identifiable {
    public let id: Int
    public let title: String
    public let note: String?
    public let status: String?
    public let dueAt: Date?
    public let completedAt: Date?
    public let position: Int?
    public let version: Int?
  }

  public let id: Int
  public let listID: SharedList.ID
  public let listName: String?
  /// The app's own name of the task, unique on its list.
  public let clientID: String?
  public let title: String
  public let note: String?
  public let dueAt: Date?
  public let completedAt: Date?
  /// `pending`, `in_progress` or `done`.
  public let status: String?
  /// 0 to 4.
  public let priority: Int?
  public let starred: Bool?
  public let position: Int?
  public let tags: [Tag]?
  public let overdue: Bool?
  /// Whether a change of the due date needs a reason.
  public let strictMode: Bool?
  public let canEdit: Bool?
  public let canDelete: Bool?
  /// Whether the user may move the due date.
  public let canReassign: Bool?
  public let parentTaskID: Int?
  public let subtasks: [Subtask]?
  public let creator: SharedList.Person?
  public let assignedTo: SharedList.Person?
  /// Where one task is read.
  public let auditTrail: [Event]?
  /// For changes that must not overwrite another's.
  public let version: Int?
  public let createdAt: Date
  public let updatedAt: Date
}

/// The user's day.
public struct Today: Sendable, Equatable, Decodable {
  /// How much of the day is done.
  public struct Stats: Sendable, Equatable, Decodable {
    public let overdueCount: Int
    public let totalDueToday: Int
    public let completedToday: Int
    public let remainingToday: Int
    public let completionPercentage: Int
  }

  /// Days in a row on which everything was done.
  public struct Streak: Sendable, Equatable, Decodable {
    public let current: Int
    public let longest: Int
  }

  public let overdue: [ListTask]
  public let hasMoreOverdue: Bool?
  public let dueToday: [ListTask]
  public let completedToday: [ListTask]
  public let stats: Stats?
  public let streak: Streak?
}
