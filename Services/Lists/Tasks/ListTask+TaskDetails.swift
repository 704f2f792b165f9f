import ClientBodies
import Foundation
import Wire

extension ClientBodies.ListTask {
  /// Members that few tasks have are nil, and left out, for the others.
  ///
  /// - Parameter events: the history, in the response for a single task.
  init(_ details: TaskDetails, _ people: [UserID: Person], events: [Event]? = nil, at now: Date) {
    let (task, done) = (details.task, details.subtasks.count(where: \.isDone))
    let (recurrence, location) = (task.recurrence, task.location)
    self.init(
      id: task.id, listID: task.list, listName: task.listName, color: task.color ?? task.listColor,
      clientID: task.clientID, title: task.title, note: task.note, dueAt: task.dueAt, completedAt: task.completedAt,
      status: task.status.rawValue, priority: task.priority, starred: task.starred, position: task.position,
      tags: details.tags.map(Tag.init), overdue: task.isOverdue(at: now), minutesOverdue: task.minutesOverdue(at: now),
      strictMode: task.strictMode, hidden: task.isHidden, missedReason: task.missedReason,
      missedReasonSubmittedAt: task.missedReasonAt, requiresExplanationIfMissed: task.requiresExplanation,
      isRecurring: recurrence?.isOn ?? false, recurrencePattern: recurrence?.pattern?.rawValue,
      recurrenceInterval: recurrence?.interval, recurrenceDays: recurrence?.days,
      recurrenceEndDate: recurrence?.lastDay?.name, recurrenceCount: recurrence?.count,
      templateID: recurrence?.template, instanceDate: recurrence?.day?.name, instanceNumber: recurrence?.number,
      locationBased: location?.isBased, locationName: location?.name, locationLatitude: location?.latitude,
      locationLongitude: location?.longitude, locationRadiusMeters: location?.radiusMeters,
      notifyOnArrival: location?.notifiesOnArrival, notifyOnDeparture: location?.notifiesOnDeparture,
      notificationIntervalMinutes: location?.everyMinutes, canEdit: task.role.mayEdit, canDelete: task.role.mayEdit,
      canReassign: task.role.mayEdit, parentTaskID: task.parent, hasSubtasks: !details.subtasks.isEmpty,
      subtasksCount: details.subtasks.count, subtasksCompletedCount: done,
      subtaskCompletionPercentage: details.subtasks.isEmpty ? 0 : done * 100 / details.subtasks.count,
      subtasks: details.subtasks.map { Subtask($0, at: now) },
      rescheduleEvents: details.reschedules.map { Reschedule($0, people) },
      creator: task.creator.flatMap { people[$0] }.map(SharedList.Person.init) ?? .deletedAccount,
      assignedTo: task.assignee.flatMap { people[$0] }.map(SharedList.Person.init), version: task.revision,
      createdAt: task.createdAt, updatedAt: task.updatedAt,
      list: events.map { _ in Place(id: task.list, name: task.listName) }, auditTrail: events)
  }
}

extension ClientBodies.ListTask.Subtask {
  init(_ task: ListTask, at now: Date) {
    self.init(
      id: task.id, listID: task.list, parentTaskID: task.parent, clientID: task.clientID, title: task.title,
      note: task.note, dueAt: task.dueAt, completedAt: task.completedAt, status: task.status.rawValue,
      priority: task.priority, starred: task.starred, position: task.position, overdue: task.isOverdue(at: now),
      version: task.revision, createdAt: task.createdAt, updatedAt: task.updatedAt)
  }
}

extension ListTask {
  fileprivate func minutesOverdue(at now: Date) -> Int {
    guard let dueAt, isOverdue(at: now) else { return 0 }
    return Int(clamping: Int64(now.timeIntervalSince(dueAt) / 60))
  }
}
