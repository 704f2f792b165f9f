import Database
import Foundation
import Wire

/// Finds tasks and sub-tasks by text in their title, note or location name, ignoring case and accents.
enum TaskSearch {
  static let lengthMax = 255
  static let hitsMax = 50

  /// The matching tasks of all lists of the user, the most recently changed first.
  static func hits(with text: String, for user: UserID, on db: any Connection) throws -> [TaskSelection.Item] {
    let rows = try db.rows(
      """
      select \(TaskSelection.Item.columns) from task where task.id in (
        select matching.id from task matching
        where matching.deleted_at is null and matching.words like \(pattern(text)) escape '\\' and matching.list_id in (
          select id from list where owner_id = \(user) and deleted_at is null
          union all select membership.list_id from membership join list on list.id = membership.list_id
            where membership.user_id = \(user) and list.deleted_at is null)
        order by matching.updated_at desc, matching.id desc limit \(hitsMax))
      order by task.updated_at desc, task.id desc
      """)
    return try rows.map(TaskSelection.Item.init)
  }

  /// The `like` pattern for a text, with wildcards escaped.
  static func pattern(_ text: String) -> String {
    let escaped = ListTask.folded(text).map { "\\%_".contains($0) ? "\\\($0)" : String($0) }
    return "%\(escaped.joined())%"
  }
}
