import Database
import Foundation
import Wire

/// All statements on the `task_event` table, which contains the history of each task.
enum TaskEventStore {
  private static let shownMax = 200
  static let reschedulesMax = 20

  static func add(_ events: [TaskEvent], to task: Int, on db: any Connection) throws {
    for event in events {
      try db.enqueue(
        """
        insert into task_event (task_id, kind, reason, user_id, original_due_at, new_due_at, occurred_at)
        values (\(task), \(event.kind.rawValue), \(event.reason), \(event.user), \(event.originalDueAt),
          \(event.newDueAt), \(event.at))
        """)
    }
  }

  /// The latest events of a task, oldest first.
  static func events(of task: Int, on db: any Connection) throws -> [(id: Int, event: TaskEvent)] {
    try db.rows(
      """
      select id, kind, reason, user_id, original_due_at, new_due_at, occurred_at from task_event
      where task_id = \(task) order by id desc limit \(shownMax)
      """
    ).reversed().map { (try $0.get("id"), try TaskEvent($0)) }
  }

  /// The latest reschedules of each task, oldest first. No query is made for tasks that were never rescheduled.
  static func reschedules(of tasks: [ListTask], on db: any Connection) throws -> [Int: [Reschedule]] {
    let rescheduled = tasks.filter { $0.rescheduleCount > 0 }.map(\.id)
    return try rescheduled.chunks.reduce(into: [:]) { found, ids in
      for row in try db.rows(reschedulesQuery(of: ids)) {
        let event = Reschedule(id: try row.get("id"), task: try row.get("task_id"), event: try TaskEvent(row))
        found[event.task, default: []].append(event)
      }
    }
  }

  private static func reschedulesQuery(of tasks: [Int]) -> SQL {
    """
    select id, task_id, kind, reason, user_id, original_due_at, new_due_at, occurred_at from (
      select task_event.*, row_number() over (partition by task_id order by id desc) as age from task_event
      where task_id in (\(list: tasks.padded)) and kind = 'reassigned') recent
    where age <= \(reschedulesMax) order by task_id, id
    """
  }
}
