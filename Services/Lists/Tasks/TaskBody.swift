import Foundation
import Wire

/// A task as the apps see it. Times are text here already: an encoder calls back for each `Date`. What few tasks have is
/// left out of the others.
struct TaskBody: Encodable {
  let id: Int
  let list_id: Int
  let list_name: String
  let color: String
  @OrNull var client_id: String?
  let title: String
  @OrNull var note: String?
  @OrNull var due_at: String?
  @OrNull var completed_at: String?
  let status: ListTask.Status
  let priority: Int
  let starred: Bool
  let position: Int
  let tags: [TagName]
  let overdue: Bool
  let minutes_overdue: Int
  let strict_mode: Bool
  let hidden: Bool
  @OrNull var missed_reason: String?
  @OrNull var missed_reason_submitted_at: String?
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
  @OrNull var parent_task_id: Int?
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
  /// Only where one task is shown.
  var list: ListOfTask?
  var audit_trail: [EventBody]?

  struct ListOfTask: Encodable {
    let id: Int
    let name: String
  }

  /// - Parameter trail: where it belongs to the answer.
  init(_ view: TaskView, _ people: [UserID: Person], trail: [EventBody]? = nil, at now: Date) {
    let task = view.task
    id = task.id
    list_id = task.list
    list_name = task.listName
    color = task.color ?? task.listColor
    _client_id = OrNull(wrappedValue: task.clientID)
    title = task.title
    _note = OrNull(wrappedValue: task.note)
    _due_at = OrNull(wrappedValue: task.dueAt.map(Instant.milliseconds))
    _completed_at = OrNull(wrappedValue: task.completedAt.map(Instant.milliseconds))
    status = task.status
    priority = task.priority
    starred = task.starred
    position = task.position
    tags = view.tags.map(TagName.init)
    overdue = task.isOverdue(at: now)
    minutes_overdue = task.minutesOverdue(at: now)
    strict_mode = task.strictMode
    hidden = task.isHidden
    _missed_reason = OrNull(wrappedValue: task.missedReason)
    _missed_reason_submitted_at = OrNull(wrappedValue: task.missedReasonAt.map(Instant.milliseconds))
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
    _parent_task_id = OrNull(wrappedValue: task.parent)
    let done = view.subtasks.count(where: \.isDone)
    has_subtasks = !view.subtasks.isEmpty
    subtasks_count = view.subtasks.count
    subtasks_completed_count = done
    subtask_completion_percentage = view.subtasks.isEmpty ? 0 : done * 100 / view.subtasks.count
    subtasks = view.subtasks.map { SubtaskBody($0, at: now) }
    reschedule_events = view.reschedules.map { RescheduleBody($0, people) }
    creator = task.creator.flatMap { people[$0] }.map(PersonBody.init) ?? .gone
    assigned_to = task.assignee.flatMap { people[$0] }.map(PersonBody.init)
    version = task.revision
    created_at = Instant.milliseconds(task.createdAt)
    updated_at = Instant.milliseconds(task.updatedAt)
    list = trail.map { _ in ListOfTask(id: task.list, name: task.listName) }
    audit_trail = trail
  }
}

/// A sub-task as the apps see it.
struct SubtaskBody: Encodable {
  let id: Int
  let list_id: Int
  @OrNull var parent_task_id: Int?
  @OrNull var client_id: String?
  let title: String
  @OrNull var note: String?
  @OrNull var due_at: String?
  @OrNull var completed_at: String?
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
    _parent_task_id = OrNull(wrappedValue: task.parent)
    _client_id = OrNull(wrappedValue: task.clientID)
    title = task.title
    _note = OrNull(wrappedValue: task.note)
    _due_at = OrNull(wrappedValue: task.dueAt.map(Instant.milliseconds))
    _completed_at = OrNull(wrappedValue: task.completedAt.map(Instant.milliseconds))
    status = task.status
    priority = task.priority
    starred = task.starred
    position = task.position
    overdue = task.isOverdue(at: now)
    version = task.revision
    created_at = Instant.milliseconds(task.createdAt)
    updated_at = Instant.milliseconds(task.updatedAt)
  }
}

extension ListTask {
  fileprivate func minutesOverdue(at now: Date) -> Int {
    guard let dueAt, isOverdue(at: now) else { return 0 }
    return Int(clamping: Int64(now.timeIntervalSince(dueAt) / 60))
  }
}
