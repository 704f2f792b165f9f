import Foundation
import Wire

/// The JSON of a change of a due date.
struct RescheduleBody: Encodable {
  let id: Int
  let task_id: Int
  @NullCodable var original_due_at: String?
  @NullCodable var new_due_at: String?
  @NullCodable var reason: String?
  let rescheduled_by: RescheduledBy
  let created_at: String

  struct RescheduledBy: Encodable {
    let id: Int
    @NullCodable var name: String?
  }

  init(_ reschedule: Reschedule, _ people: [UserID: Person]) {
    let event = reschedule.event
    id = reschedule.id
    task_id = reschedule.task
    _original_due_at = NullCodable(wrappedValue: event.originalDueAt.map(RFC3339.milliseconds))
    _new_due_at = NullCodable(wrappedValue: event.newDueAt.map(RFC3339.milliseconds))
    _reason = NullCodable(wrappedValue: event.reason)
    let person = event.user.flatMap { people[$0] }.map(PersonBody.init) ?? .deletedAccount
    rescheduled_by = RescheduledBy(id: person.id, name: person.name)
    created_at = RFC3339.milliseconds(event.at)
  }
}

/// The JSON of an entry of a task's history.
struct TaskEventBody: Encodable {
  let id: Int
  let kind: TaskEvent.Kind
  @NullCodable var reason: String?
  let user: PersonBody?
  let occurred_at: Date
  let original_due_at: Date?
  let new_due_at: Date?

  init(_ id: Int, _ event: TaskEvent, _ people: [UserID: Person]) {
    self.id = id
    kind = event.kind
    _reason = NullCodable(wrappedValue: event.reason)
    user = event.user.map { people[$0].map(PersonBody.init) ?? .deletedAccount } ?? .deletedAccount
    occurred_at = event.at
    original_due_at = event.originalDueAt
    new_due_at = event.newDueAt
  }
}
