/// A page of tasks of several lists.
public struct TaskPage: Sendable, Equatable, Codable {
  public let tasks: [ListTask]
  /// From 1.
  public let page: Int
  public let perPage: Int
  public let hasMore: Bool

  private enum CodingKeys: String, CodingKey {
    case tasks, page
    case perPage = "per_page"
    case hasMore = "has_more"
  }

  public init(tasks: [ListTask], page: Int, perPage: Int, hasMore: Bool) {
    self.tasks = tasks
    self.page = page
    self.perPage = perPage
    self.hasMore = hasMore
  }
}

/// One task.
package struct TaskAnswer: Sendable, Codable {
  package let task: ListTask
  /// After an action.
  package let message: String?

  package init(task: ListTask, message: String? = nil) {
    self.task = task
    self.message = message
  }
}

/// Several tasks, or those of a list that have changed.
package struct TasksAnswer: Sendable, Codable {
  package let tasks: [ListTask]
  /// Of a list, as the next three: the ids in `deleted`, as texts.
  package let tombstones: [String]?
  package let deleted: [Tombstone]?
  /// For the next question.
  package let cursor: String?
  package let hasMore: Bool?
  /// In a page only, as the next one.
  package let page: Int?
  package let perPage: Int?

  private enum CodingKeys: String, CodingKey {
    case tasks, tombstones, deleted, cursor, page
    case hasMore = "has_more"
    case perPage = "per_page"
  }

  package init(
    tasks: [ListTask], tombstones: [String]? = nil, deleted: [Tombstone]? = nil, cursor: String? = nil,
    hasMore: Bool? = nil, page: Int? = nil, perPage: Int? = nil
  ) {
    self.tasks = tasks
    self.tombstones = tombstones
    self.deleted = deleted
    self.cursor = cursor
    self.hasMore = hasMore
    self.page = page
    self.perPage = perPage
  }
}

/// One part of a task.
package struct SubtaskAnswer: Sendable, Codable {
  package let subtask: ListTask.Subtask

  package init(subtask: ListTask.Subtask) {
    self.subtask = subtask
  }
}

/// The parts of a task.
package struct SubtasksAnswer: Sendable, Codable {
  package let subtasks: [ListTask.Subtask]

  package init(subtasks: [ListTask.Subtask]) {
    self.subtasks = subtasks
  }
}

/// The user's tags.
package struct TagsAnswer: Sendable, Codable {
  package let tags: [ListTask.Tag]

  package init(tags: [ListTask.Tag]) {
    self.tags = tags
  }
}
