import Foundation

extension ListTask {
  /// A word by which the user groups tasks.
  public struct Tag: Sendable, Equatable, Codable, Identifiable {
    public let id: Int
    public let name: String
    @NullCodable public private(set) var color: String?
    /// For its owner, as the next one.
    public let createdAt: Date?
    /// How many tasks have it.
    public let tasksCount: Int?

    private enum CodingKeys: String, CodingKey {
      case id, name, color
      case createdAt = "created_at"
      case tasksCount = "tasks_count"
    }

    public init(id: Int, name: String, color: String?, createdAt: Date? = nil, tasksCount: Int? = nil) {
      self.id = id
      self.name = name
      self.color = color
      self.createdAt = createdAt
      self.tasksCount = tasksCount
    }
  }

  /// An entry of the task's history.
  public struct Event: Sendable, Equatable, Codable, Identifiable {
    public let id: Int
    public let kind: String
    @NullCodable public private(set) var reason: String?
    public let user: SharedList.Person?
    public let occurredAt: Date
    /// Of a change of the due date, as the next one.
    public let originalDueAt: Date?
    public let newDueAt: Date?

    private enum CodingKeys: String, CodingKey {
      case id, kind, reason, user
      case occurredAt = "occurred_at"
      case originalDueAt = "original_due_at"
      case newDueAt = "new_due_at"
    }

    public init(
      id: Int, kind: String, reason: String?, user: SharedList.Person? = nil, occurredAt: Date,
      originalDueAt: Date? = nil, newDueAt: Date? = nil
    ) {
      self.id = id
      self.kind = kind
      self.reason = reason
      self.user = user
      self.occurredAt = occurredAt
      self.originalDueAt = originalDueAt
      self.newDueAt = newDueAt
    }
  }

  /// A change of the due date.
  public struct Reschedule: Sendable, Equatable, Codable, Identifiable {
    public let id: Int
    public let taskID: Int?
    @NullCodable public private(set) var originalDueAt: Date?
    @NullCodable public private(set) var newDueAt: Date?
    @NullCodable public private(set) var reason: String?
    public let rescheduledBy: SharedList.Person?
    public let createdAt: Date?

    private enum CodingKeys: String, CodingKey {
      case id, reason
      case taskID = "task_id"
      case originalDueAt = "original_due_at"
      case newDueAt = "new_due_at"
      case rescheduledBy = "rescheduled_by"
      case createdAt = "created_at"
    }

    public init(
      id: Int, taskID: Int?, originalDueAt: Date?, newDueAt: Date?, reason: String?, rescheduledBy: SharedList.Person?,
      createdAt: Date?
    ) {
      self.id = id
      self.taskID = taskID
      self.originalDueAt = originalDueAt
      self.newDueAt = newDueAt
      self.reason = reason
      self.rescheduledBy = rescheduledBy
      self.createdAt = createdAt
    }
  }

  /// A part of a task.
  public struct Subtask: Sendable, Equatable, Codable, Identifiable {
    public let id: Int
    public let listID: SharedList.ID?
    @NullCodable public private(set) var parentTaskID: Int?
    /// The app's own name of the part.
    @NullCodable public private(set) var clientID: String?
    public let title: String
    @NullCodable public private(set) var note: String?
    @NullCodable public private(set) var dueAt: Date?
    @NullCodable public private(set) var completedAt: Date?
    public let status: String?
    public let priority: Int?
    public let starred: Bool?
    public let position: Int?
    public let overdue: Bool?
    public let version: Int?
    public let createdAt: Date?
    public let updatedAt: Date?

    private enum CodingKeys: String, CodingKey {
      case id, title, note, status, priority, starred, position, overdue, version
      case listID = "list_id"
      case parentTaskID = "parent_task_id"
      case clientID = "client_id"
      case dueAt = "due_at"
      case completedAt = "completed_at"
      case createdAt = "created_at"
      case updatedAt = "updated_at"
    }

    public init(
      id: Int, listID: SharedList.ID?, parentTaskID: Int?, clientID: String?, title: String, note: String?,
      dueAt: Date?, completedAt: Date?, status: String?, priority: Int?, starred: Bool?, position: Int?, overdue: Bool?,
      version: Int?, createdAt: Date?, updatedAt: Date?
    ) {
      self.id = id
      self.listID = listID
      self.parentTaskID = parentTaskID
      self.clientID = clientID
      self.title = title
      self.note = note
      self.dueAt = dueAt
      self.completedAt = completedAt
      self.status = status
      self.priority = priority
      self.starred = starred
      self.position = position
      self.overdue = overdue
      self.version = version
      self.createdAt = createdAt
      self.updatedAt = updatedAt
    }
  }

  /// The list of a task.
  public struct Place: Sendable, Equatable, Codable, Identifiable {
    public let id: SharedList.ID
    public let name: String

    public init(id: SharedList.ID, name: String) {
      self.id = id
      self.name = name
    }
  }
}
