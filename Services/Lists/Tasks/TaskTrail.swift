import Database
import Foundation
import Wire

/// What somebody did with a task, once and for all.
struct TaskEvent: Sendable, Hashable {
  enum Kind: String, Sendable, Codable, CaseIterable {
    case created, completed, reopened, assigned, unassigned, reassigned, deleted
  }

  let kind: Kind
  /// nil for who has deleted their account.
  let user: UserID?
  let reason: String?
  let at: Date
  var originalDueAt: Date?
  var newDueAt: Date?

  init(_ kind: Kind, by user: UserID?, reason: String? = nil, at now: Date) {
    self.kind = kind
    self.user = user
    self.reason = reason
    self.at = now
  }
}

/// The trail of each task, which only grows.
enum TaskTrail {
  private static let shownMax = 200
  static let reschedulesMax = 20

  static func add(_ events: [TaskEvent], to task: Int, on db: any Connection) throws {
    for event in events {
      try db.later(
        """
        insert into task_event (task_id, kind, reason, user_id, original_due_at, new_due_at, occurred_at)
        values (\(task), \(event.kind.rawValue), \(event.reason), \(event.user), \(event.originalDueAt),
          \(event.newDueAt), \(event.at))
        """)
    }
  }

  /// The latest ones, in the order in which they happened.
  static func events(of task: Int, on db: any Connection) throws -> [(id: Int, event: TaskEvent)] {
    try db.rows(
      """
      select id, kind, reason, user_id, original_due_at, new_due_at, occurred_at from task_event
      where task_id = \(task) order by id desc limit \(shownMax)
      """
    ).reversed().map { (try $0.get("id"), try TaskEvent($0)) }
  }

  /// The latest for each task, in the order in which they happened. Nothing is asked about tasks that were never moved.
  static func reschedules(of tasks: [ListTask], on db: any Connection) throws -> [Int: [Reschedule]] {
    let moved = tasks.filter { $0.rescheduleCount > 0 }.map(\.id)
    return try moved.pieces.reduce(into: [:]) { found, ids in
      for row in try db.rows(reschedulesQuery(of: ids)) {
        let event = Reschedule(id: try row.get("id"), task: try row.get("task_id"), event: try TaskEvent(row))
        found[event.task, default: []].append(event)
      }
    }
  }

  private static func reschedulesQuery(of tasks: [Int]) -> SQL {
    """
    select id, task_id, kind, reason, user_id, original_due_at, new_due_at, occurred_at from (
      select e.*, row_number() over (partition by e.task_id order by e.id desc) as age from task_event e
      where e.task_id in (\(list: tasks.padded)) and e.kind = 'reassigned') recent
    where age <= \(reschedulesMax) order by task_id, id
    """
  }
}

extension TaskEvent {
  init(_ row: Row) throws {
    guard let kind = Kind(rawValue: try row.get("kind")) else { throw DatabaseFailure.unreadable(column: "kind") }
    self.init(kind, by: try row.optional("user_id"), reason: try row.optional("reason"), at: try row.get("occurred_at"))
    originalDueAt = try row.optional("original_due_at")
    newDueAt = try row.optional("new_due_at")
  }
}

/// One step of a trail as the apps see it.
struct EventBody: Encodable {
  let id: Int
  let kind: TaskEvent.Kind
  @OrNull var reason: String?
  let user: PersonBody?
  let occurred_at: Date
  let original_due_at: Date?
  let new_due_at: Date?

  init(_ id: Int, _ event: TaskEvent, _ people: [UserID: Person]) {
    self.id = id
    kind = event.kind
    _reason = OrNull(wrappedValue: event.reason)
    user = event.user.map { people[$0].map(PersonBody.init) ?? .gone } ?? .gone
    occurred_at = event.at
    original_due_at = event.originalDueAt
    new_due_at = event.newDueAt
  }
}

/// A due date that was moved.
struct Reschedule: Sendable, Hashable {
  let id: Int
  let task: Int
  let event: TaskEvent
}

/// The same as the apps see it.
struct RescheduleBody: Encodable {
  let id: Int
  let task_id: Int
  @OrNull var original_due_at: String?
  @OrNull var new_due_at: String?
  @OrNull var reason: String?
  let rescheduled_by: Somebody
  let created_at: String

  struct Somebody: Encodable {
    let id: Int
    @OrNull var name: String?
  }

  init(_ reschedule: Reschedule, _ people: [UserID: Person]) {
    let event = reschedule.event
    id = reschedule.id
    task_id = reschedule.task
    _original_due_at = OrNull(wrappedValue: event.originalDueAt.map(Instant.milliseconds))
    _new_due_at = OrNull(wrappedValue: event.newDueAt.map(Instant.milliseconds))
    _reason = OrNull(wrappedValue: event.reason)
    let person = event.user.flatMap { people[$0] }.map(PersonBody.init) ?? .gone
    rescheduled_by = Somebody(id: person.id, name: person.name)
    created_at = Instant.milliseconds(event.at)
  }
}
