import Database
import EventFeed
import Foundation
import Wire

/// The rows of several tasks, read after their change. Nothing is read where no events are recorded.
enum TaskRows {
  /// Those of changed tasks, by their lists. Deleted tasks are left out.
  static func updates(of tasks: [Int], on db: any Connection) throws -> [Int: [EventChange]] {
    guard EventFeed.isRecording(on: db) else { return [:] }
    return try tasks.chunks.reduce(into: [:]) { changes, ids in
      let rows = try db.rows(
        "select \(taskRowColumns) from task where id in (\(list: ids.padded)) and deleted_at is null order by id")
      for row in rows { changes[try row.get("list_id", as: Int.self), default: []].append(try change(.update, row)) }
    }
  }

  /// Those of the sub-tasks with which a task was made.
  static func insertions(below task: Int, on db: any Connection) throws -> [EventChange] {
    guard EventFeed.isRecording(on: db) else { return [] }
    return try db.rows("select \(taskRowColumns) from task where parent_id = \(task) order by position, id")
      .map { try change(.insert, $0) }
  }

  private static func change(_ type: RowChange.Kind, _ row: Row) throws -> EventChange {
    .of("tasks", type, key: ["id": try row.get("id", as: Int.self)], try record(row))
  }

  /// The same columns as of a task that is changed alone.
  private static func record(_ row: Row) throws -> EventFields {
    [
      "list_id": try row.get("list_id", as: Int.self), "parent_task_id": try row.optional("parent_id", as: Int.self),
      "title": try row.get("title", as: String.self), "status": try row.get("status", as: String.self),
      "priority": try row.get("priority", as: Int.self), "starred": try row.get("starred", as: Bool.self),
      "hidden": try row.get("hidden", as: Bool.self), "color": try row.optional("color", as: String.self),
      "due_at": try row.optional("due_at", as: Date.self),
      "completed_at": try row.optional("completed_at", as: Date.self),
      "position": try row.get("position", as: Int.self),
      "creator_id": try row.optional("creator_id", as: UserID.self),
      "assignee_id": try row.optional("assignee_id", as: UserID.self),
      "version": try row.get("revision", as: Int.self), "created_at": try row.get("created_at", as: Date.self),
      "updated_at": try row.get("updated_at", as: Date.self),
    ]
  }
}

private let taskRowColumns: SQL = """
  id, list_id, parent_id, title, status, priority, starred, hidden, color, due_at, completed_at, position, creator_id,
  assignee_id, revision, created_at, updated_at
  """
