import Database
import Foundation
import Wire

/// Finds tasks and sub-tasks by what stands in their title or note, whatever its case and accents.
enum TaskSearch {
  static let lengthMax = 255
  static let hitsMax = 50

  /// In the lists that the user is in, the latest change first.
  static func tasks(with text: String, for user: UserID, on db: any Connection) throws -> [ListTask] {
    let rows = try db.rows(
      """
      select \(taskColumns), case when l.owner_id = \(user) then 'owner' else m.role end as role
      from task t join list l on l.id = t.list_id
        left join membership m on m.list_id = t.list_id and m.user_id = \(user)
      where t.deleted_at is null and t.words like \(pattern(text)) escape '\\' and t.list_id in (
        select id from list where owner_id = \(user) and deleted_at is null
        union all select o.list_id from membership o join list ol on ol.id = o.list_id
          where o.user_id = \(user) and ol.deleted_at is null)
      order by t.updated_at desc, t.id desc limit \(hitsMax)
      """)
    return try rows.map { try ListTask($0, role: try Role($0)) }
  }

  /// What stands for anything in a pattern stands for itself in a search.
  static func pattern(_ text: String) -> String {
    let escaped = ListTask.folded(text).map { "\\%_".contains($0) ? "\\\($0)" : String($0) }
    return "%\(escaped.joined())%"
  }
}
