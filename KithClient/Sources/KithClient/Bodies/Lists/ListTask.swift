import Foundation

/// A task of a list.
public struct ListTask: Sendable, Equatable, Codable, Identifiable {
  public let id: Int
  public let listID: SharedList.ID
  public let listName: String?
  /// The task's own, else the list's.
  public let color: String?
  /// The app's own name of the task, unique on its list.
  @NullCodable public private(set) var clientID: String?
  public let title: String
  @NullCodable public private(set) var note: String?
  @NullCodable public private(set) var dueAt: Date?
  @NullCodable public private(set) var completedAt: Date?
  /// `pending`, `in_progress` or `done`.
  public let status: String?
  /// 0 to 4.
  public let priority: Int?
  public let starred: Bool?
  public let position: Int?
  public let tags: [Tag]?
  public let overdue: Bool?
  public let minutesOverdue: Int?
  /// Whether a change of the due date needs a reason.
  public let strictMode: Bool?
  public let hidden: Bool?
  /// Why it was not done in time.
  @NullCodable public private(set) var missedReason: String?
  @NullCodable public private(set) var missedReasonSubmittedAt: Date?
  public let requiresExplanationIfMissed: Bool?
  public let isRecurring: Bool?
  /// Of a task that recurs, as the next seven.
  public let recurrencePattern: String?
  public let recurrenceInterval: Int?
  public let recurrenceDays: [Int]?
  /// A day, such as `2026-11-21`.
  public let recurrenceEndDate: String?
  public let recurrenceCount: Int?
  public let templateID: Int?
  /// A day.
  public let instanceDate: String?
  public let instanceNumber: Int?
  /// Of a task that belongs to a place, as the next seven.
  public let locationBased: Bool?
  public let locationName: String?
  public let locationLatitude: Double?
  public let locationLongitude: Double?
  public let locationRadiusMeters: Int?
  public let notifyOnArrival: Bool?
  public let notifyOnDeparture: Bool?
  public let notificationIntervalMinutes: Int?
  public let canEdit: Bool?
  public let canDelete: Bool?
  /// Whether the user may move the due date.
  public let canReassign: Bool?
  @NullCodable public private(set) var parentTaskID: Int?
  public let hasSubtasks: Bool?
  public let subtasksCount: Int?
  public let subtasksCompletedCount: Int?
  /// 0 to 100.
  public let subtaskCompletionPercentage: Int?
  public let subtasks: [Subtask]?
  public let rescheduleEvents: [Reschedule]?
  public let creator: SharedList.Person?
  public let assignedTo: SharedList.Person?
  /// For changes that must not overwrite another's.
  public let version: Int?
  public let createdAt: Date
  public let updatedAt: Date
  /// Where one task is read, as the next one.
  public let list: Place?
  public let auditTrail: [Event]?

  private enum CodingKeys: String, CodingKey {
    case id, color, title, note, status, priority, starred, position, tags, overdue, hidden, subtasks, creator, version
    case list
    case listID = "list_id"
    case listName = "list_name"
    case clientID = "client_id"
    case dueAt = "due_at"
    case completedAt = "completed_at"
    case minutesOverdue = "minutes_overdue"
    case strictMode = "strict_mode"
    case missedReason = "missed_reason"
    case missedReasonSubmittedAt = "missed_reason_submitted_at"
    case requiresExplanationIfMissed = "requires_explanation_if_missed"
    case isRecurring = "is_recurring"
    case recurrencePattern = "recurrence_pattern"
    case recurrenceInterval = "recurrence_interval"
    case recurrenceDays = "recurrence_days"
    case recurrenceEndDate = "recurrence_end_date"
    case recurrenceCount = "recurrence_count"
    case templateID = "template_id"
    case instanceDate = "instance_date"
    case instanceNumber = "instance_number"
    case locationBased = "location_based"
    case locationName = "location_name"
    case locationLatitude = "location_latitude"
    case locationLongitude = "location_longitude"
    case locationRadiusMeters = "location_radius_meters"
    case notifyOnArrival = "notify_on_arrival"
    case notifyOnDeparture = "notify_on_departure"
    case notificationIntervalMinutes = "notification_interval_minutes"
    case canEdit = "can_edit"
    case canDelete = "can_delete"
    case canReassign = "can_reassign"
    case parentTaskID = "parent_task_id"
    case hasSubtasks = "has_subtasks"
    case subtasksCount = "subtasks_count"
    case subtasksCompletedCount = "subtasks_completed_count"
    case subtaskCompletionPercentage = "subtask_completion_percentage"
    case rescheduleEvents = "reschedule_events"
    case assignedTo = "assigned_to"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
    case auditTrail = "audit_trail"
  }

  public init(
    id: Int, listID: SharedList.ID, listName: String?, color: String?, clientID: String?, title: String, note: String?,
    dueAt: Date?, completedAt: Date?, status: String?, priority: Int?, starred: Bool?, position: Int?, tags: [Tag]?,
    overdue: Bool?, minutesOverdue: Int?, strictMode: Bool?, hidden: Bool?, missedReason: String?,
    missedReasonSubmittedAt: Date?, requiresExplanationIfMissed: Bool?, isRecurring: Bool?,
    recurrencePattern: String? = nil, recurrenceInterval: Int? = nil, recurrenceDays: [Int]? = nil,
    recurrenceEndDate: String? = nil, recurrenceCount: Int? = nil, templateID: Int? = nil, instanceDate: String? = nil,
    instanceNumber: Int? = nil, locationBased: Bool? = nil, locationName: String? = nil,
    locationLatitude: Double? = nil, locationLongitude: Double? = nil, locationRadiusMeters: Int? = nil,
    notifyOnArrival: Bool? = nil, notifyOnDeparture: Bool? = nil, notificationIntervalMinutes: Int? = nil,
    canEdit: Bool?, canDelete: Bool?, canReassign: Bool?, parentTaskID: Int?, hasSubtasks: Bool?, subtasksCount: Int?,
    subtasksCompletedCount: Int?, subtaskCompletionPercentage: Int?, subtasks: [Subtask]?,
    rescheduleEvents: [Reschedule]?, creator: SharedList.Person?, assignedTo: SharedList.Person? = nil, version: Int?,
    createdAt: Date, updatedAt: Date, list: Place? = nil, auditTrail: [Event]? = nil
  ) {
    self.id = id
    self.listID = listID
    self.listName = listName
    self.color = color
    self.clientID = clientID
    self.title = title
    self.note = note
    self.dueAt = dueAt
    self.completedAt = completedAt
    self.status = status
    self.priority = priority
    self.starred = starred
    self.position = position
    self.tags = tags
    self.overdue = overdue
    self.minutesOverdue = minutesOverdue
    self.strictMode = strictMode
    self.hidden = hidden
    self.missedReason = missedReason
    self.missedReasonSubmittedAt = missedReasonSubmittedAt
    self.requiresExplanationIfMissed = requiresExplanationIfMissed
    self.isRecurring = isRecurring
    self.recurrencePattern = recurrencePattern
    self.recurrenceInterval = recurrenceInterval
    self.recurrenceDays = recurrenceDays
    self.recurrenceEndDate = recurrenceEndDate
    self.recurrenceCount = recurrenceCount
    self.templateID = templateID
    self.instanceDate = instanceDate
    self.instanceNumber = instanceNumber
    self.locationBased = locationBased
    self.locationName = locationName
    self.locationLatitude = locationLatitude
    self.locationLongitude = locationLongitude
    self.locationRadiusMeters = locationRadiusMeters
    self.notifyOnArrival = notifyOnArrival
    self.notifyOnDeparture = notifyOnDeparture
    self.notificationIntervalMinutes = notificationIntervalMinutes
    self.canEdit = canEdit
    self.canDelete = canDelete
    self.canReassign = canReassign
    self.parentTaskID = parentTaskID
    self.hasSubtasks = hasSubtasks
    self.subtasksCount = subtasksCount
    self.subtasksCompletedCount = subtasksCompletedCount
    self.subtaskCompletionPercentage = subtaskCompletionPercentage
    self.subtasks = subtasks
    self.rescheduleEvents = rescheduleEvents
    self.creator = creator
    self.assignedTo = assignedTo
    self.version = version
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.list = list
    self.auditTrail = auditTrail
  }
}
