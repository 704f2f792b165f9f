import Database
import Foundation
import Wire

/// A person's day, from midnight to midnight where they live.
struct Day: Sendable, Hashable {
  let start: Date
  let end: Date
  /// `2026-11-21`.
  let name: String

  init(_ now: Date, in zone: TimeZone) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    start = calendar.startOfDay(for: now)
    // Midnight is not always there, and a day not always 24 hours long: the calendar knows.
    end = calendar.date(byAdding: .day, value: 1, to: start) ?? start + 86_400
    let parts = calendar.dateComponents([.year, .month, .day], from: now)
    name = [(parts.year, 4), (parts.month, 2), (parts.day, 2)].map { number, width in
      let digits = String(number ?? 0)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }.joined(separator: "-")
  }
}

/// What matters on a day, in all lists that somebody is in: which tasks, and how many.
struct Today: Sendable {
  let overdue: [Int]
  let hasMoreOverdue: Bool
  let dueToday: [Int]
  let completedToday: [Int]
  let overdueCount: Int
  /// Due on this day, done or not.
  let dueCount: Int
  let dueAndDoneCount: Int
  let completedCount: Int

  static let overdueMax = 50
  static let shownMax = 200
  static let bytesMax = 1024 * 1024

  /// Late tasks are those whose time has come; the rest of the day's are still due.
  init(_ day: Day, of user: UserID, at now: Date, on db: any Connection) throws {
    let isOpen: SQL = "completed_at is null"
    let isDone: SQL = "completed_at is not null"
    let (late, later) = (Span(.distantPast, now), Span(now, day.end))
    // What is due comes first, as nothing says that there is more of it.
    var room = Room()
    dueToday = room.fill(with: try Self.items(isOpen, "due_at", later, of: user, limit: Self.shownMax, on: db)[...])
    let overdue = try Self.items(isOpen, "due_at", late, of: user, limit: Self.overdueMax + 1, on: db)
    self.overdue = room.fill(with: overdue.prefix(Self.overdueMax))
    hasMoreOverdue = self.overdue.count < overdue.count
    let today = Span(day.start, day.end)
    let done = try Self.items(isDone, "completed_at", today, of: user, limit: Self.shownMax, on: db)
    completedToday = room.fill(with: done[...])
    overdueCount = try Self.count(isOpen, "due_at", late, of: user, on: db)
    dueAndDoneCount = try Self.count(isDone, "due_at", today, of: user, on: db)
    dueCount = try Self.count(isOpen, "due_at", today, of: user, on: db) + dueAndDoneCount
    completedCount = try Self.count(isDone, "completed_at", today, of: user, on: db)
  }

  /// From a time until before another.
  private struct Span {
    let start: Date
    let end: Date

    init(_ start: Date, _ end: Date) {
      self.start = max(start, Instant.storable.lowerBound)
      self.end = end
    }
  }

  /// What is left of the bytes that an answer may take, which is all in memory at once. The task that passes the end is
  /// the last one: however long it is, there is something to see.
  private struct Room {
    private var bytes = Today.bytesMax
    /// What a task, a sub-task or a move takes beside its text, roughly.
    private static let itemBytes = 256

    mutating func fill(with items: ArraySlice<TaskPlan.Item>) -> [Int] {
      var ids: [Int] = []
      for item in items where bytes > 0 {
        ids.append(item.id)
        bytes -= item.size + item.count * Self.itemBytes
      }
      return ids
    }
  }

  private static func items(
    _ condition: SQL, _ column: SQL, _ span: Span, of user: UserID, limit: Int, on db: any Connection
  ) throws -> [TaskPlan.Item] {
    try db.rows(
      """
      select \(TaskPlan.Item.columns) from task t where t.id in (
        select c.id from task c
        where c.parent_id is null and c.deleted_at is null and c.\(condition) and c.\(column) >= \(span.start)
          and c.\(column) < \(span.end) and c.list_id in (
            select id from list where owner_id = \(user) and deleted_at is null
            union all select o.list_id from membership o join list ol on ol.id = o.list_id
              where o.user_id = \(user) and ol.deleted_at is null)
        order by c.\(column), c.id limit \(limit))
      order by t.\(column), t.id
      """
    ).map(TaskPlan.Item.init)
  }

  private static func count(
    _ condition: SQL, _ column: SQL, _ span: Span, of user: UserID, on db: any Connection
  ) throws -> Int {
    let row = try db.row(
      """
      select count(*) as tasks from task t
      where t.parent_id is null and t.deleted_at is null and t.\(condition) and t.\(column) >= \(span.start)
        and t.\(column) < \(span.end) and t.list_id in (
          select id from list where owner_id = \(user) and deleted_at is null
          union all select o.list_id from membership o join list ol on ol.id = o.list_id
            where o.user_id = \(user) and ol.deleted_at is null)
      """)
    return try row?.get("tasks") ?? 0
  }
}
