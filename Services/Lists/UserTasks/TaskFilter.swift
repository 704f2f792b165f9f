import Database
import Foundation
import Hummingbird
import Web
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
      select \(TaskSelection.Item.columns) from task t where t.id in (
        select c.id from task c where c.parent_id is null and c.deleted_at is null and c.list_id in (
          select id from list where owner_id = \(user) and deleted_at is null
          union all select o.list_id from membership o join list ol on ol.id = o.list_id
            where o.user_id = \(user) and ol.deleted_at is null)
        and (cast(\(list) as bigint) is null or c.list_id = \(list))
        and (cast(\(status) as text) is null or c.status = \(status))
        and (cast(\(starred) as boolean) is null or c.starred = \(starred))
        and (cast(\(priority) as bigint) is null or c.priority = \(priority))
        and (cast(\(assignee) as text) is null or c.assignee_id = \(assignee))
        and (cast(\(tag) as bigint) is null
          or exists (select 1 from task_tag g where g.task_id = c.id and g.tag_id = \(tag)))
        and (cast(\(isAnyTime) as boolean) or (c.due_at > \(after) and c.due_at < \(before)))
        and (cast(\(overdue) as boolean) is null
          or (c.completed_at is null and coalesce(c.due_at < \(now), false)) = cast(\(overdue) as boolean))
        order by c.due_at nulls last, c.id limit \(size + 1) offset \((page - 1) * size))
      order by t.due_at nulls last, t.id
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

extension Request {
  /// The query parameters as JSON values: integers, `true` and `false` are converted, everything else is a string.
  var queryFields: [String: JSONValue] {
    uri.queryParameters.reduce(into: [:]) { members, parameter in
      let text = String(parameter.value)
      members[String(parameter.key)] =
        switch text {
        case "true": .bool(true)
        case "false": .bool(false)
        default: Int(text).map(JSONValue.integer) ?? .string(text)
        }
    }
  }
}
