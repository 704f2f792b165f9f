import Foundation
import Wire

/// The JSON of a task. Times are formatted already, because `JSONEncoder` calls its date closure for each `Date`.
/// Fields that few tasks have are left out of the others.
struct TaskBody: Encodable {
  let id: Int
  let list_id: Int
  let list_name: String
  let color: String
  @NullCodable var client_id: String?
  let title: String
  @NullCodable var note: String?
  @NullCodable var due_at: String?
  @NullCodable var completed_at: String?
  let status: ListTask.Status
  let priority: Int
  let starred: Bool
  let position: Int
  let tags: [TagSummaryBody]
  let overdue: Bool
  let minutes_overdue: Int
  let strict_mode: Bool
  let hidden: Bool
  @NullCodable var missed_reason: String?
  @NullCodable var missed_reason_submitted_at: String?
  let requires_explanation_if_missed: Bool
  let is_recurring: Bool
  let recurrence_pattern: Recurrence.Pattern?
  let recurrence_interval: Int?
  let recurrence_days: [Int]?
  let recurrence_end_date: String?
  let recurrence_count: Int?
  let template_id: Int?
  let instance_date: String?
  let instance_number: Int?
  let location_based: Bool?
  let location_name: String?
  let location_latitude: Double?
  let location_longitude: Double?
  let location_radius_meters: Int?
  let notify_on_arrival: Bool?
  let notify_on_departure: Bool?
  let notification_interval_minutes: Int?
  let can_edit: Bool
  let can_delete: Bool
  let can_reassign: Bool
  @NullCodable var parent_task_id: Int?
  let has_subtasks: Bool
  let subtasks_count: Int
  let subtasks_completed_count: Int
  let subtask_completion_percentage: Int
  let subtasks: [SubtaskBody]
  let reschedule_events: [RescheduleBody]
  let creator: PersonBody
  let assigned_to: PersonBody?
  let version: Int
  let created_at: String
  let updated_at: String
  /// Only in the response for a single task.
  var list: ListOfTask?
  var audit_trail: [TaskEventBody]?

  struct ListOfTask: Encodable {
    let id: Int
    let name: String
  }

  /// - Parameter events: the history, in the response for a single task.
  init(_ details: TaskDetails, _ people: [UserID: Person], events: [TaskEventBody]? = nil, at now: Date) {
    let task = details.task
    id = task.id
    list_id = task.list
    list_name = task.listName
    color = task.color ?? task.listColor
    _client_id = NullCodable(wrappedValue: task.clientID)
    title = task.title
    _note = NullCodable(wrappedValue: task.note)
    _due_at = NullCodable(wrappedValue: task.dueAt.map(RFC3339.milliseconds))
    _completed_at = NullCodable(wrappedValue: task.completedAt.map(RFC3339.milliseconds))
    status = task.status
    priority = task.priority
    starred = task.starred
    position = task.position
    tags = details.tags.map(TagSummaryBody.init)
    overdue = task.isOverdue(at: now)
    minutes_overdue = task.minutesOverdue(at: now)
    strict_mode = task.strictMode
    hidden = task.isHidden
    _missed_reason = NullCodable(wrappedValue: task.missedReason)
    _missed_reason_submitted_at = NullCodable(wrappedValue: task.missedReasonAt.map(RFC3339.milliseconds))
    requires_explanation_if_missed = task.requiresExplanation
    let recurrence = task.recurrence
    is_recurring = recurrence?.isOn ?? false
    recurrence_pattern = recurrence?.pattern
    recurrence_interval = recurrence?.interval
    recurrence_days = recurrence?.days
    recurrence_end_date = recurrence?.lastDay?.name
    recurrence_count = recurrence?.count
    template_id = recurrence?.template
    instance_date = recurrence?.day?.name
    instance_number = recurrence?.number
    let location = task.location
    location_based = location?.isBased
    location_name = location?.name
    location_latitude = location?.latitude
    location_longitude = location?.longitude
    location_radius_meters = location?.radiusMeters
    notify_on_arrival = location?.notifiesOnArrival
    notify_on_departure = location?.notifiesOnDeparture
    notification_interval_minutes = location?.everyMinutes
    can_edit = task.role.mayEdit
    can_delete = task.role.mayEdit
    can_reassign = task.role.mayEdit
    _parent_task_id = NullCodable(wrappedValue: task.parent)
    let done = details.subtasks.count(where: \.isDone)
    has_subtasks = !details.subtasks.isEmpty
    subtasks_count = details.subtasks.count
    subtasks_completed_count = done
    subtask_completion_percentage = details.subtasks.isEmpty ? 0 : done * 100 / details.subtasks.count
    subtasks = details.subtasks.map { SubtaskBody($0, at: now) }
    reschedule_events = details.reschedules.map { RescheduleBody($0, people) }
    creator = task.creator.flatMap { people[$0] }.map(PersonBody.init) ?? .deletedAccount
    assigned_to = task.assignee.flatMap { people[$0] }.map(PersonBody.init)
    version = task.revision
    created_at = RFC3339.milliseconds(task.createdAt)
    updated_at = RFC3339.milliseconds(task.updatedAt)
    list = events.map { _ in ListOfTask(id: task.list, name: task.listName) }
    audit_trail = events
  }
}

/// The JSON of a sub-task.
struct SubtaskBody: Encodable {
  let id: Int
  let list_id: Int
  @NullCodable var parent_task_id: Int?
  @NullCodable var client_id: String?
  let title: String
  @NullCodable var note: String?
  @NullCodable var due_at: String?
  @NullCodable var completed_at: String?
  let status: ListTask.Status
  let priority: Int
  let starred: Bool
  let position: Int
  let overdue: Bool
  let version: Int
  let created_at: String
  let updated_at: String

  init(_ task: ListTask, at now: Date) {
    id = task.id
    list_id = task.list
    _parent_task_id = NullCodable(wrappedValue: task.parent)
    _client_id = NullCodable(wrappedValue: task.clientID)
    title = task.title
    _note = NullCodable(wrappedValue: task.note)
    _due_at = NullCodable(wrappedValue: task.dueAt.map(RFC3339.milliseconds))
    _completed_at = NullCodable(wrappedValue: task.completedAt.map(RFC3339.milliseconds))
    status = task.status
    priority = task.priority
    starred = task.starred
    position = task.position
    overdue = task.isOverdue(at: now)
    version = task.revision
    created_at = RFC3339.milliseconds(task.createdAt)
    updated_at = RFC3339.milliseconds(task.updatedAt)
  }
}

extension ListTask {
  fileprivate func minutesOverdue(at now: Date) -> Int {
    guard let dueAt, isOverdue(at: now) else { return 0 }
    return Int(clamping: Int64(now.timeIntervalSince(dueAt) / 60))
  }
}
