import ClientBodies
import Database
import Foundation
import Wire

/// The tasks that a response contains, in order, split into chunks that are read one after another. The set of tasks is
/// that of one transaction; the content of each task is that of the moment when its chunk is read, and a task that was
/// deleted in between is left out. The cursor of the response covers every change since that transaction.
struct TaskSelection: Sendable {
  struct Item: Sendable {
    let id: Int
    /// The size of its texts, including the reasons of its reschedules and the texts of its sub-tasks, in bytes.
    let size: Int
    /// The number of rows: the task, its sub-tasks and its reschedules.
    let count: Int
  }

  let chunks: [[Int]]

  private static let sizeMax = 64 * 1024
  private static let countMax = 128
  static let tasksMax = 32
  private static let shortMax = 16

  /// - Parameter tasksMax: the number of tasks in a chunk when their texts are short.
  init(_ items: [Item], tasksMax: Int = TaskSelection.tasksMax) {
    var chunks: [[Int]] = []
    var (size, count) = (0, 0)
    for item in items {
      size += item.size
      count += item.count
      if let last = chunks.last, last.count < tasksMax, size <= Self.sizeMax, count <= Self.countMax {
        chunks[chunks.count - 1].append(item.id)
      } else {
        chunks.append([item.id])
        (size, count) = (item.size, item.count)
      }
    }
    self.chunks = chunks
  }

  /// Whether a whole list always fits one chunk, so that no selection is needed: few tasks do, however often they were
  /// rescheduled.
  static func isShort(_ list: List) -> Bool {
    list.taskCount + list.subtaskCount <= shortMax && list.textSize <= sizeMax
  }

  /// The tasks of a list, or a page of them, and whether there are more.
  static func page(_ page: Page?, of list: List, on db: any Connection) throws -> (TaskSelection, hasMore: Bool) {
    let size = page?.size ?? List.tasksMax
    let rows = try db.rows(
      """
      select \(Item.columns) from task
      where task.list_id = \(list.id) and task.parent_id is null and task.deleted_at is null
      order by task.position, task.id limit \(size + 1) offset \(page?.offset ?? 0)
      """)
    return (TaskSelection(try rows.prefix(size).map(Item.init)), rows.count > size)
  }

  /// The changed and the deleted tasks of a list.
  struct Changes: Sendable {
    let selection: TaskSelection
    let deleted: [Tombstone]
    /// The cursor of the last change when there are more; nil at the end.
    let last: TasksCursor?
  }

  /// The changes of a list after the cursor, in the order of revisions.
  static func changes(
    of list: List, since cursor: TasksCursor, limit: Int, on db: any Connection
  ) throws -> Changes {
    let rows = try db.rows(
      """
      select task.revision, task.deleted_at, \(Item.columns) from task
      where task.list_id = \(list.id) and task.parent_id is null
        and (task.revision, task.id) > (\(cursor.revision), \(cursor.task))
      order by task.revision, task.id limit \(limit)
      """)
    var (items, deleted) = ([Item](), [Tombstone]())
    for row in rows {
      let item = try Item(row)
      if let date = try row.optional("deleted_at", as: Date.self) {
        deleted.append(Tombstone(id: item.id, deletedAt: date))
      } else {
        items.append(item)
      }
    }
    let last =
      try rows.count < limit
      ? nil : rows.last.map { TasksCursor(list: list.id, revision: try $0.get("revision"), task: try $0.get("id")) }
    return Changes(selection: TaskSelection(items), deleted: deleted, last: last)
  }
}

extension TaskSelection.Item {
  /// The columns of `task` in a statement where it has no alias.
  static let columns: SQL = """
    task.id, task.text_size + coalesce((select cast(sum(subtask.text_size) as bigint) from task subtask
      where subtask.parent_id = task.id and subtask.deleted_at is null), 0) as size, task.reschedule_count,
    1 + (select count(*) from task subtask where subtask.parent_id = task.id and subtask.deleted_at is null) as parts
    """

  init(_ row: Row) throws {
    let reschedules = min(try row.get("reschedule_count"), TaskEventStore.reschedulesMax)
    self.init(id: try row.get("id"), size: try row.get("size"), count: try row.get("parts") + reschedules)
  }
}
