import ClientBodies
import Wire

extension TasksAnswer: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    json.member("cursor", cursor)
    try json.member("deleted", deleted)
    json.member("has_more", hasMore)
    json.member("page", page)
    json.member("per_page", perPage)
    try json.member("tasks", tasks)
    json.member("tombstones", texts: tombstones)
  }
}

extension TaskAnswer: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    json.member("message", message)
    try json.member("task", task)
  }
}

extension TaskPage: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    json.member("has_more", hasMore)
    json.member("page", page)
    json.member("per_page", perPage)
    try json.member("tasks", tasks)
  }
}

extension ClientBodies.ListTask: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    try json.member("assigned_to", assignedTo)
    try json.member("audit_trail", auditTrail)
    json.member("can_delete", canDelete)
    json.member("can_edit", canEdit)
    json.member("can_reassign", canReassign)
    json.memberOrNull("client_id", clientID)
    json.member("color", color)
    json.memberOrNull("completed_at", completedAt)
    json.member("created_at", createdAt)
    try json.member("creator", creator)
    json.memberOrNull("due_at", dueAt)
    json.member("has_subtasks", hasSubtasks)
    json.member("hidden", hidden)
    json.member("id", id)
    json.member("instance_date", instanceDate)
    json.member("instance_number", instanceNumber)
    json.member("is_recurring", isRecurring)
    try json.member("list", list)
    json.member("list_id", listID)
    json.member("list_name", listName)
    json.member("location_based", locationBased)
    try json.member("location_latitude", encoding: locationLatitude)
    try json.member("location_longitude", encoding: locationLongitude)
    json.member("location_name", locationName)
    json.member("location_radius_meters", locationRadiusMeters)
    json.member("minutes_overdue", minutesOverdue)
    json.memberOrNull("missed_reason", missedReason)
    json.memberOrNull("missed_reason_submitted_at", missedReasonSubmittedAt)
    json.memberOrNull("note", note)
    json.member("notification_interval_minutes", notificationIntervalMinutes)
    json.member("notify_on_arrival", notifyOnArrival)
    json.member("notify_on_departure", notifyOnDeparture)
    json.member("overdue", overdue)
    json.memberOrNull("parent_task_id", parentTaskID)
    json.member("position", position)
    json.member("priority", priority)
    json.member("recurrence_count", recurrenceCount)
    try json.member("recurrence_days", encoding: recurrenceDays)
    json.member("recurrence_end_date", recurrenceEndDate)
    json.member("recurrence_interval", recurrenceInterval)
    json.member("recurrence_pattern", recurrencePattern)
    json.member("requires_explanation_if_missed", requiresExplanationIfMissed)
    try json.member("reschedule_events", rescheduleEvents)
    json.member("starred", starred)
    json.member("status", status)
    json.member("strict_mode", strictMode)
    json.member("subtask_completion_percentage", subtaskCompletionPercentage)
    try json.member("subtasks", subtasks)
    json.member("subtasks_completed_count", subtasksCompletedCount)
    json.member("subtasks_count", subtasksCount)
    try json.member("tags", tags)
    json.member("template_id", templateID)
    json.member("title", title)
    json.member("updated_at", updatedAt)
    json.member("version", version)
  }
}

extension ClientBodies.ListTask.Tag: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) {
    json.memberOrNull("color", color)
    json.member("created_at", createdAt)
    json.member("id", id)
    json.member("name", name)
    json.member("tasks_count", tasksCount)
  }
}

extension ClientBodies.ListTask.Subtask: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) {
    json.memberOrNull("client_id", clientID)
    json.memberOrNull("completed_at", completedAt)
    json.member("created_at", createdAt)
    json.memberOrNull("due_at", dueAt)
    json.member("id", id)
    json.member("list_id", listID)
    json.memberOrNull("note", note)
    json.member("overdue", overdue)
    json.memberOrNull("parent_task_id", parentTaskID)
    json.member("position", position)
    json.member("priority", priority)
    json.member("starred", starred)
    json.member("status", status)
    json.member("title", title)
    json.member("updated_at", updatedAt)
    json.member("version", version)
  }
}

extension ClientBodies.ListTask.Event: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    json.member("id", id)
    json.member("kind", kind)
    json.member("new_due_at", newDueAt)
    json.member("occurred_at", occurredAt)
    json.member("original_due_at", originalDueAt)
    json.memberOrNull("reason", reason)
    try json.member("user", user)
  }
}

extension ClientBodies.ListTask.Reschedule: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    json.member("created_at", createdAt)
    json.member("id", id)
    json.memberOrNull("new_due_at", newDueAt)
    json.memberOrNull("original_due_at", originalDueAt)
    json.memberOrNull("reason", reason)
    try json.member("rescheduled_by", rescheduledBy)
    json.member("task_id", taskID)
  }
}

extension ClientBodies.ListTask.Place: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("name", name)
  }
}
