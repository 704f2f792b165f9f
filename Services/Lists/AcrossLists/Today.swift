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

/// What matters on a day, in all lists that somebody is in.
struct Today: Sendable {
  let overdue: [ListTask]
  let hasMoreOverdue: Bool
  let dueToday: [ListTask]
  let completedToday: [ListTask]
  let overdueCount: Int
  /// Due on this day, done or not.
  let dueCount: Int
  let dueAndDoneCount: Int
  let completedCount: Int

  static let overdueMax = 50
  static let shownMax = 200

  /// Late tasks are those whose time has come; the rest of the day's are still due.
  init(_ day: Day, of user: UserID, at now: Date, on db: any Connection) throws {
    let isOpen: SQL = "t.completed_at is null"
    let isDone: SQL = "t.completed_at is not null"
    let (late, later) = (Span(.distantPast, now), Span(now, day.end))
    let overdue = try Self.tasks(isOpen, "t.due_at", late, of: user, limit: Self.overdueMax + 1, on: db)
    self.overdue = Array(overdue.prefix(Self.overdueMax))
    hasMoreOverdue = overdue.count > Self.overdueMax
    dueToday = try Self.tasks(isOpen, "t.due_at", later, of: user, limit: Self.shownMax, on: db)
    let today = Span(day.start, day.end)
    completedToday = try Self.tasks(isDone, "t.completed_at", today, of: user, limit: Self.shownMax, on: db)
    overdueCount = try Self.count(isOpen, "t.due_at", late, of: user, on: db)
    dueAndDoneCount = try Self.count(isDone, "t.due_at", today, of: user, on: db)
    dueCount = try Self.count(isOpen, "t.due_at", today, of: user, on: db) + dueAndDoneCount
    completedCount = try Self.count(isDone, "t.completed_at", today, of: user, on: db)
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

  private static func tasks(
    _ condition: SQL, _ column: SQL, _ span: Span, of user: UserID, limit: Int, on db: any Connection
  ) throws -> [ListTask] {
    try db.rows(
      """
      select \(taskColumns), case when l.owner_id = \(user) then 'owner' else m.role end as role
      from task t join list l on l.id = t.list_id
        left join membership m on m.list_id = t.list_id and m.user_id = \(user)
      where t.parent_id is null and t.deleted_at is null and \(condition) and \(column) >= \(span.start)
        and \(column) < \(span.end) and t.list_id in (
          select id from list where owner_id = \(user) and deleted_at is null
          union all select o.list_id from membership o join list ol on ol.id = o.list_id
            where o.user_id = \(user) and ol.deleted_at is null)
      order by \(column), t.id limit \(limit)
      """
    ).map { try ListTask($0, role: try Role($0)) }
  }

  private static func count(
    _ condition: SQL, _ column: SQL, _ span: Span, of user: UserID, on db: any Connection
  ) throws -> Int {
    let row = try db.row(
      """
      select count(*) as tasks from task t
      where t.parent_id is null and t.deleted_at is null and \(condition) and \(column) >= \(span.start)
        and \(column) < \(span.end) and t.list_id in (
          select id from list where owner_id = \(user) and deleted_at is null
          union all select o.list_id from membership o join list ol on ol.id = o.list_id
            where o.user_id = \(user) and ol.deleted_at is null)
      """)
    return try row?.get("tasks") ?? 0
  }
}
