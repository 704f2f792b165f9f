import ClientBodies
import Foundation
import Wire

extension ClientBodies.ListTask.Event {
  init(_ id: Int, _ event: TaskEvent, _ people: [UserID: Person]) {
    self.init(
      id: id, kind: event.kind.rawValue, reason: event.reason,
      user: event.user.flatMap { people[$0] }.map(SharedList.Person.init) ?? .deletedAccount, occurredAt: event.at,
      originalDueAt: event.originalDueAt, newDueAt: event.newDueAt)
  }
}

extension ClientBodies.ListTask.Reschedule {
  init(_ reschedule: Lists.Reschedule, _ people: [UserID: Person]) {
    let event = reschedule.event
    let person = event.user.flatMap { people[$0] }.map(SharedList.Person.init) ?? .deletedAccount
    self.init(
      id: reschedule.id, taskID: reschedule.task, originalDueAt: event.originalDueAt, newDueAt: event.newDueAt,
      reason: event.reason, rescheduledBy: SharedList.Person(id: person.id, name: person.name), createdAt: event.at)
  }
}
