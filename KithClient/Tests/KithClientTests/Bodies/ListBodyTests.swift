import Foundation
import Testing

@testable import KithClient

/// The bodies of lists and tasks, as the service writes them.
@Suite struct ListBodyTests {
  private static let times = #""created_at": "2026-11-21T08:15:30.123Z", "updated_at": "2026-11-21T08:15:30.123Z""#
  private static let person = #"{"id": 4, "email": "kim@example.com", "name": null}"#
  private static let tag = #"{"id": 3, "name": "home", "color": null}"#

  private static let list = """
    {"id": 1, "name": "Us", "description": null, "visibility": "private", "color": "blue", "list_type": null,
     "tags": [\(tag)], "owner": {"id": 4, "email": "kim@example.com", "name": "Kim", "role": "owner"},
     "user": \(person), "role": "owner", "members": [{"id": 9, "user": \(person), "name": null, "role": "editor",
     \(times)}], "members_count": 1, "tasks_count": 2, "parent_tasks_count": 2, "completed_tasks_count": 1,
     "overdue_tasks_count": 0, "version": 5, \(times)}
    """

  private static let task = """
    {"id": 7, "list_id": 1, "list_name": "Us", "color": "blue", "client_id": null, "title": "Milk", "note": null,
     "due_at": "2026-11-21T08:15:30.123Z", "completed_at": null, "status": "in_progress", "priority": 2,
     "starred": false, "position": 1, "tags": [\(tag)], "overdue": true, "minutes_overdue": 5, "strict_mode": true,
     "hidden": false, "missed_reason": null, "missed_reason_submitted_at": null,
     "requires_explanation_if_missed": false, "is_recurring": false, "can_edit": true, "can_delete": true,
     "can_reassign": true, "parent_task_id": null, "has_subtasks": true, "subtasks_count": 1,
     "subtasks_completed_count": 0, "subtask_completion_percentage": 0, "subtasks": [\(subtask)],
     "reschedule_events": [{"id": 2, "task_id": 7, "original_due_at": null, "new_due_at": "2026-11-21T08:15:30.123Z",
     "reason": null, "rescheduled_by": {"id": 4, "name": null}, "created_at": "2026-11-21T08:15:30.123Z"}],
     "creator": \(person), "version": 3, \(times)}
    """

  private static let subtask = """
    {"id": 8, "list_id": 1, "parent_task_id": 7, "client_id": "c", "title": "Oat", "note": null, "due_at": null,
     "completed_at": null, "status": "pending", "priority": 0, "starred": false, "position": 0, "overdue": false,
     "version": 1, \(times)}
    """

  @Test func lists() throws {
    try expectRoundTrip(ListAnswer.self, #"{"list": \#(Self.list)}"#)
    let withTasks = Self.list.dropLast() + #", "tasks": [\#(Self.task)]}"#
    try expectRoundTrip(ListAnswer.self, #"{"list": \#(withTasks)}"#)
    try expectRoundTrip(
      ListsAnswer.self,
      """
      {"lists": [\(Self.list)], "tombstones": ["2"], "deleted": [{"id": 2, "deleted_at": "2026-11-21T08:15:30.123Z"}],
       "cursor": "c"}
      """)
    try expectRoundTrip(
      ListsAnswer.self,
      """
      {"lists": [], "tombstones": [], "deleted": [], "cursor": "c", "page": 1, "per_page": 50, "has_more": false}
      """)
  }

  @Test func members() throws {
    let membership = #"{"id": 9, "user": \#(Self.person), "name": null, "role": "editor", \#(Self.times)}"#
    try expectRoundTrip(MembershipAnswer.self, #"{"membership": \#(membership)}"#)
    try expectRoundTrip(MembershipsAnswer.self, #"{"owner": \#(Self.person), "memberships": [\#(membership)]}"#)
    try expectRoundTrip(FriendsAnswer.self, #"{"friends": [\#(Self.person)]}"#)
  }

  @Test func tasks() throws {
    try expectRoundTrip(TaskAnswer.self, #"{"task": \#(Self.task)}"#)
    try expectRoundTrip(TaskAnswer.self, #"{"task": \#(Self.task), "message": "Task completed"}"#)
    try expectRoundTrip(
      TasksAnswer.self,
      #"{"tasks": [\#(Self.task)], "tombstones": [], "deleted": [], "cursor": "c", "has_more": true}"#)
    try expectRoundTrip(TasksAnswer.self, #"{"tasks": [\#(Self.task)]}"#)
    try expectRoundTrip(
      TaskPage.self, #"{"tasks": [\#(Self.task)], "page": 1, "per_page": 25, "has_more": false}"#)
    try expectRoundTrip(SubtaskAnswer.self, #"{"subtask": \#(Self.subtask)}"#)
    try expectRoundTrip(SubtasksAnswer.self, #"{"subtasks": [\#(Self.subtask)]}"#)
  }

  @Test func oneTaskWithAllThatFewHave() throws {
    let more = """
      , "recurrence_pattern": "weekly", "recurrence_interval": 1, "recurrence_days": [1, 5],
       "recurrence_end_date": "2026-12-24", "recurrence_count": 9, "template_id": 6, "instance_date": "2026-11-21",
       "instance_number": 2, "location_based": true, "location_name": "Shop", "location_latitude": 52.5,
       "location_longitude": 13.4, "location_radius_meters": 100, "notify_on_arrival": true,
       "notify_on_departure": false, "notification_interval_minutes": 10, "assigned_to": \(Self.person),
       "list": {"id": 1, "name": "Us"}, "audit_trail": [{"id": 1, "kind": "created", "reason": null,
       "user": \(Self.person), "occurred_at": "2026-11-21T08:15:30.123Z",
       "new_due_at": "2026-11-21T08:15:30.123Z"}]}
      """
    try expectRoundTrip(TaskAnswer.self, #"{"task": \#(Self.task.dropLast() + more)}"#)
  }

  @Test func theDay() throws {
    try expectRoundTrip(
      Today.self,
      """
      {"date": "2026-11-21", "timezone": "UTC", "overdue": [\(Self.task)], "has_more_overdue": false, "due_today": [],
       "completed_today": [], "stats": {"overdue_count": 1, "total_due_today": 0, "completed_today": 0,
       "remaining_today": 0, "completion_percentage": 0}, "streak": {"current": 1, "longest": 2}}
      """)
  }

  @Test func aTagIsThereTwice() throws {
    let members =
      #""id": 3, "name": "home", "color": null, "created_at": "2026-11-21T08:15:30.123Z", "tasks_count": 2"#
    try expectRoundTrip(TagAnswer.self, #"{\#(members), "tag": {\#(members)}}"#)
    try expectRoundTrip(TagsAnswer.self, #"{"tags": [{\#(members)}]}"#)
  }

  @Test func whatAnEarlierServerWrites() throws {
    let times = #""created_at": "2026-11-21T08:15:30.123Z", "updated_at": "2026-11-21T08:15:30.123Z""#
    try expectDecodable(SharedList.self, #"{"id": 1, "name": "Us", "members": [{"id": 9}], \#(times)}"#)
    try expectDecodable(ListTask.self, #"{"id": 7, "list_id": 1, "title": "Milk", "subtasks": [], \#(times)}"#)
    try expectDecodable(ListTask.Subtask.self, #"{"id": 8, "title": "Oat"}"#)
    try expectDecodable(ListMembership.self, #"{"id": 9, "user": {"id": 4}, "role": "editor"}"#)
    try expectDecodable(Today.self, #"{"overdue": [], "due_today": [], "completed_today": []}"#)
  }
}
