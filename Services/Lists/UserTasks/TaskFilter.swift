import Database
import Foundation
import Wire

/// A filter for the tasks of all lists of a user. Conditions that are nil are not applied.
struct TaskFilter: Sendable {
  private let list: Int?
  private let status: String?
  private let starred: Bool?
  private let priority: Int?
  private let tag: Int?
  /// The user in `assigned_to`.
  var assignee: UserID?
  private let dueAfter: Date?
  private let dueBefore: Date?
  private let overdue: Bool?

  init(_ fields: inout RequestFields, assignee: UserID? = nil) {
    list = fields.number("list_id", 1...Int.max).value
    status = fields.choice("status", ListTask.Status.allCases.map(\.rawValue)).value
    starred = fields.flag("starred").value
    priority = fields.number("priority", 0...4).value
    tag = fields.number("tag_id", 1...Int.max).value
    dueAfter = fields.time("due_after").value
    dueBefore = fields.time("due_before").value
    overdue = fields.flag("overdue").value
    self.assignee = assignee
  }

  /// A page of the matching tasks, by due date, and one task more when there are more. The subquery that selects the
  /// page uses indexes alone.
  func page(
    _ page: Int, of size: Int, for user: UserID, at now: Date, on db: any Connection
  ) throws -> [TaskSelection.Item] {
    let (before, after) = (dueBefore ?? .distantFuture.storable, dueAfter ?? .distantPast.storable)
    let isAnyTime = dueBefore == nil && dueAfter == nil
    let rows = try db.rows(
      """
      select \(TaskSelection.Item.columns) from task where task.id in (
        select matching.id from task matching
        where matching.parent_id is null and matching.deleted_at is null and matching.list_id in (
          select id from list where owner_id = \(user) and deleted_at is null
          union all select membership.list_id from membership join list on list.id = membership.list_id
            where membership.user_id = \(user) and list.deleted_at is null)
        and (cast(\(list) as bigint) is null or matching.list_id = \(list))
        and (cast(\(status) as text) is null or matching.status = \(status))
        and (cast(\(starred) as boolean) is null or matching.starred = \(starred))
        and (cast(\(priority) as bigint) is null or matching.priority = \(priority))
        and (cast(\(assignee) as text) is null or matching.assignee_id = \(assignee))
        and (cast(\(tag) as bigint) is null
          or exists (select 1 from task_tag where task_tag.task_id = matching.id and task_tag.tag_id = \(tag)))
        and (cast(\(isAnyTime) as boolean) or (matching.due_at > \(after) and matching.due_at < \(before)))
        and (cast(\(overdue) as boolean) is null
          or (matching.completed_at is null and coalesce(matching.due_at < \(now), false))
            = cast(\(overdue) as boolean))
        order by matching.due_at nulls last, matching.id limit \(size + 1) offset \((page - 1) * size))
      order by task.due_at nulls last, task.id
      """)
    return try rows.map(TaskSelection.Item.init)
  }
}

extension Date {
  /// The time, clamped to the range that the databases can compare.
  fileprivate var storable: Date {
    min(max(self, RFC3339.storable.lowerBound), RFC3339.storable.upperBound - 0.001)
  }
}
