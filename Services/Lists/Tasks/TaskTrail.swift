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
