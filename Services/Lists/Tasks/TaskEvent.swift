import Database
import Foundation
import Wire

/// An entry of a task's history. Entries are not changed, except by an erasure.
struct TaskEvent: Sendable, Hashable {
  enum Kind: String, Sendable, Codable, CaseIterable {
    case created, completed, reopened, assigned, unassigned, reassigned, deleted
  }

  let kind: Kind
  /// nil when the user has deleted their account.
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

extension TaskEvent {
  init(_ row: Row) throws {
    self.init(
      try row.enumValue("kind"), by: try row.optional("user_id"), reason: try row.optional("reason"),
      at: try row.get("occurred_at"))
    originalDueAt = try row.optional("original_due_at")
    newDueAt = try row.optional("new_due_at")
  }
}

/// A change of a task's due date.
struct Reschedule: Sendable, Hashable {
  let id: Int
  let task: Int
  let event: TaskEvent
}
