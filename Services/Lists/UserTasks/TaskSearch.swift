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
      select \(TaskSelection.Item.columns) from task t where t.id in (
        select c.id from task c
        where c.deleted_at is null and c.words like \(pattern(text)) escape '\\' and c.list_id in (
          select id from list where owner_id = \(user) and deleted_at is null
          union all select o.list_id from membership o join list ol on ol.id = o.list_id
            where o.user_id = \(user) and ol.deleted_at is null)
        order by c.updated_at desc, c.id desc limit \(hitsMax))
      order by t.updated_at desc, t.id desc
      """)
    return try rows.map(TaskSelection.Item.init)
  }

  /// The `like` pattern for a text, with wildcards escaped.
  static func pattern(_ text: String) -> String {
    let escaped = ListTask.folded(text).map { "\\%_".contains($0) ? "\\\($0)" : String($0) }
    return "%\(escaped.joined())%"
  }
}
