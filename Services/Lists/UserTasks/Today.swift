import Database
import Foundation
import Wire

/// The tasks of all lists of a user that are due or completed on a day, and their counts.
struct Today: Sendable {
  let overdue: [Int]
  let hasMoreOverdue: Bool
  let dueToday: [Int]
  let completedToday: [Int]
  let overdueCount: Int
  /// Due on this day, completed or not.
  let dueCount: Int
  let dueAndDoneCount: Int
  let completedCount: Int

  static let overdueMax = 50
  static let shownMax = 200
  static let bytesMax = 1024 * 1024

  /// Overdue tasks are those due before `now`; tasks due later on the day are in `dueToday`.
  init(_ day: LocalDay, of user: UserID, at now: Date, on db: any Connection) throws {
    let isOpen: SQL = "completed_at is null"
    let isDone: SQL = "completed_at is not null"
    let (past, restOfDay) = (TimeRange(.distantPast, now), TimeRange(now, day.end))
    // Tasks that are due take the bytes first, because the response cannot say that there are more of them.
    var budget = ByteBudget()
    let due = try Self.items(isOpen, "due_at", restOfDay, of: user, limit: Self.shownMax, on: db)
    dueToday = budget.take(from: due[...])
    let overdue = try Self.items(isOpen, "due_at", past, of: user, limit: Self.overdueMax + 1, on: db)
    self.overdue = budget.take(from: overdue.prefix(Self.overdueMax))
    hasMoreOverdue = self.overdue.count < overdue.count
    let today = TimeRange(day.start, day.end)
    let done = try Self.items(isDone, "completed_at", today, of: user, limit: Self.shownMax, on: db)
    completedToday = budget.take(from: done[...])
    overdueCount = try Self.count(isOpen, "due_at", past, of: user, on: db)
    dueAndDoneCount = try Self.count(isDone, "due_at", today, of: user, on: db)
    dueCount = try Self.count(isOpen, "due_at", today, of: user, on: db) + dueAndDoneCount
    completedCount = try Self.count(isDone, "completed_at", today, of: user, on: db)
  }

  /// A half-open interval of time.
  private struct TimeRange {
    let start: Date
    let end: Date

    init(_ start: Date, _ end: Date) {
      self.start = max(start, RFC3339.storable.lowerBound)
      self.end = end
    }
  }

  /// The remaining bytes of the response, which is built in memory. The task that exceeds the budget is still included,
  /// so that the response is never empty.
  private struct ByteBudget {
    private var bytes = Today.bytesMax
    /// The approximate size of a task, sub-task or reschedule without its texts.
    private static let itemBytes = 256

    mutating func take(from items: ArraySlice<TaskSelection.Item>) -> [Int] {
      var ids: [Int] = []
      for item in items where bytes > 0 {
        ids.append(item.id)
        bytes -= item.size + item.count * Self.itemBytes
      }
      return ids
    }
  }

  private static func items(
    _ condition: SQL, _ column: SQL, _ range: TimeRange, of user: UserID, limit: Int, on db: any Connection
  ) throws -> [TaskSelection.Item] {
    try db.rows(
      """
      select \(TaskSelection.Item.columns) from task where task.id in (
        select matching.id from task matching
        where matching.parent_id is null and matching.deleted_at is null and matching.\(condition)
          and matching.\(column) >= \(range.start) and matching.\(column) < \(range.end) and matching.list_id in (
            select id from list where owner_id = \(user) and deleted_at is null
            union all select membership.list_id from membership join list on list.id = membership.list_id
              where membership.user_id = \(user) and list.deleted_at is null)
        order by matching.\(column), matching.id limit \(limit))
      order by task.\(column), task.id
      """
    ).map(TaskSelection.Item.init)
  }

  private static func count(
    _ condition: SQL, _ column: SQL, _ range: TimeRange, of user: UserID, on db: any Connection
  ) throws -> Int {
    let row = try db.row(
      """
      select count(*) as tasks from task
      where parent_id is null and deleted_at is null and \(condition) and \(column) >= \(range.start)
        and \(column) < \(range.end) and list_id in (
          select id from list where owner_id = \(user) and deleted_at is null
          union all select membership.list_id from membership join list on list.id = membership.list_id
            where membership.user_id = \(user) and list.deleted_at is null)
      """)
    return try row?.get("tasks") ?? 0
  }
}
