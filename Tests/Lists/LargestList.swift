import Database
import Foundation
import Support
import Wire

@testable import Lists

/// Fills a list up to all limits: the maximum counts, and four megabytes of text, most of it in the first tasks.
func fillToTheEnd(_ list: Int, of owner: UserID, _ database: any Database) async throws {
  let (now, longMax) = (Date(), 60)
  let long = String(repeating: "🙂", count: ListTask.noteMax)
  let rows = List.tasksMax + List.subtasksMax
  let short = (List.textSizeMax - longMax * long.utf8.count) / rows
  try await database.write { db in
    try db.change("update list set revision = revision + 1 where id = \(list)")
    try db.change(
      """
      with recursive n (i) as (select 1 union all select i + 1 from n where i < \(List.tasksMax))
      insert into task (list_id, creator_id, title, note, words, text_size, due_at, status, priority, starred,
        strict_mode, position, revision, created_at, updated_at)
      select \(list), \(owner), \(String(repeating: "t", count: short)),
        case when i <= \(longMax) then cast(\(long) as text) end, '',
        \(short) + case when i <= \(longMax) then \(long.utf8.count) else 0 end, \(now - 60), 'pending', 0, false,
        false, i, 2, \(now), \(now) from n
      """)
    for position in 1...(List.subtasksMax / List.tasksMax) {
      try db.change(
        """
        insert into task (list_id, parent_id, creator_id, title, words, text_size, status, priority, starred,
          strict_mode, position, revision, created_at, updated_at)
        select list_id, id, creator_id, \(String(repeating: "s", count: short)), '', \(short), 'pending', 0, false,
          false, \(position), 2, \(now), \(now)
        from task where list_id = \(list) and parent_id is null
        """)
    }
    for index in 0..<TaskChange.tagsMax {
      let name = String(repeating: "🙂", count: 40) + String(index)
      try db.change(
        """
        insert into tag (user_id, name, name_folded, created_at, updated_at)
        values (\(owner), \(name), \(name), \(now), \(now))
        """)
    }
    // A hundred thousand rows in one statement would take longer than a statement may on a busy machine.
    let step = List.tasksMax / 20
    for first in stride(from: 1, through: List.tasksMax, by: step) {
      try db.change(
        """
        insert into task_tag (task_id, tag_id) select t.id, g.id from task t, tag g
        where t.list_id = \(list) and t.parent_id is null and t.position >= \(first) and t.position < \(first + step)
          and g.user_id = \(owner)
        """)
    }
    try db.change(
      """
      update list set task_count = \(List.tasksMax), subtask_count = \(List.subtasksMax),
        text_size = \(List.textSizeMax) where id = \(list)
      """)
  }
}
