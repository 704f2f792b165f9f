import Database
import Foundation
import Wire

/// Which tasks of a list an answer shows, in which order, and in which pieces they are read. What it says is of one moment;
/// each task is shown as it is when its piece is read, and left out when it was deleted in between. Whoever asks for changes
/// by the cursor of the answer gets whatever has changed since that moment.
struct TaskPlan: Sendable {
  struct Item: Sendable {
    let id: Int
    /// Of its texts, the reasons of its moves among them, and those of its sub-tasks.
    let size: Int
    /// It, its sub-tasks and the moves of its due date.
    let count: Int
  }

  let pieces: [[Int]]

  private static let sizeMax = 64 * 1024
  private static let countMax = 128
  static let tasksMax = 32
  private static let shortMax = 16

  /// - Parameter tasksMax: how many there are in a piece, if they are short.
  init(_ items: [Item], tasksMax: Int = TaskPlan.tasksMax) {
    var pieces: [[Int]] = []
    var (size, count) = (0, 0)
    for item in items {
      size += item.size
      count += item.count
      if let last = pieces.last, last.count < tasksMax, size <= Self.sizeMax, count <= Self.countMax {
        pieces[pieces.count - 1].append(item.id)
      } else {
        pieces.append([item.id])
        (size, count) = (item.size, item.count)
      }
    }
    self.pieces = pieces
  }

  /// Whether all of a list is one piece, which shows without a plan: so few tasks are one however often they were moved.
  static func isShort(_ list: List) -> Bool {
    list.taskCount + list.subtaskCount <= shortMax && list.textSize <= sizeMax
  }

  /// What is on a list, or a page of it, and whether there are more.
  static func page(_ page: Page?, of list: List, on db: any Connection) throws -> (TaskPlan, hasMore: Bool) {
    let size = page?.size ?? List.tasksMax
    let rows = try db.rows(
      """
      select \(Item.columns) from task t
      where t.list_id = \(list.id) and t.parent_id is null and t.deleted_at is null order by t.position, t.id
      limit \(size + 1) offset \(page?.offset ?? 0)
      """)
    return (TaskPlan(try rows.prefix(size).map(Item.init)), rows.count > size)
  }

  /// The pieces of such a plan, and what else one must know of what has changed.
  struct Changes: Sendable {
    let plan: TaskPlan
    let deleted: [Tombstone]
    /// The last one, when there are more.
    let last: TasksCursor?
  }

  /// What has changed on a list after the cursor, in the order in which it did.
  static func changes(
    of list: List, since cursor: TasksCursor, limit: Int, on db: any Connection
  ) throws -> Changes {
    let rows = try db.rows(
      """
      select t.revision, t.deleted_at, \(Item.columns) from task t
      where t.list_id = \(list.id) and t.parent_id is null and (t.revision, t.id) > (\(cursor.revision), \(cursor.task))
      order by t.revision, t.id limit \(limit)
      """)
    var (items, deleted) = ([Item](), [Tombstone]())
    for row in rows {
      let item = try Item(row)
      if let date = try row.optional("deleted_at", as: Date.self) {
        deleted.append(Tombstone(id: item.id, deleted_at: date))
      } else {
        items.append(item)
      }
    }
    let last =
      try rows.count < limit
      ? nil : rows.last.map { TasksCursor(list: list.id, revision: try $0.get("revision"), task: try $0.get("id")) }
    return Changes(plan: TaskPlan(items), deleted: deleted, last: last)
  }
}

extension TaskPlan.Item {
  /// Of a task `t`.
  static let columns: SQL = """
    t.id, t.text_size + coalesce((select cast(sum(s.text_size) as bigint) from task s
      where s.parent_id = t.id and s.deleted_at is null), 0) as size, t.reschedule_count,
    1 + (select count(*) from task s where s.parent_id = t.id and s.deleted_at is null) as parts
    """

  init(_ row: Row) throws {
    let moves = min(try row.get("reschedule_count"), TaskTrail.reschedulesMax)
    self.init(id: try row.get("id"), size: try row.get("size"), count: try row.get("parts") + moves)
  }
}
