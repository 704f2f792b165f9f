import Database
import Foundation
import Support
import Testing
import Wire

@testable import Lists

/// Rows that were stored before the migration for recurring tasks.
@Suite struct MigrationTests {
  @Test(arguments: engines) func movesAndExplanationsFromBeforeAreShown(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let (alice, now) = (UserID.new(at: Date()), Date().wholeMilliseconds)
      let name = "recurring tasks, tags of lists, what else the app keeps"
      let earlier = Array(listsMigrations.prefix { $0.name != name })
      #expect(earlier.count < listsMigrations.count)
      let old = try await testDatabase.open("lists", earlier)
      let ids = try await old.write { db in
        let list = try db.row(
          """
          insert into list (owner_id, name, visibility, color, created_at, updated_at)
          values (\(alice), 'List', 'private', 'blue', \(now), \(now)) returning id
          """)
        let id = try list?.get("id", as: Int.self) ?? 0
        return try ["Moved", "Still"].map { title in
          let reason: String? = title == "Moved" ? "Ill" : nil
          let task = try db.row(
            """
            insert into task (list_id, title, words, due_at, status, completed_at, missed_reason, priority, starred,
              strict_mode, position, revision, created_at, updated_at)
            values (\(id), \(title), '', \(now), 'done', \(now), \(reason), 0, \(false), \(false),
              1, 1, \(now), \(now)) returning id
            """)
          return try task?.get("id", as: Int.self) ?? 0
        }
      }
      try await old.write { db in
        for kind in ["created", "reassigned", "reassigned"] {
          try db.change(
            """
            insert into task_event (task_id, kind, user_id, new_due_at, occurred_at)
            values (\(ids[0]), \(kind), \(alice), \(now), \(now))
            """)
        }
      }
      await old.close()
      let new = try await testDatabase.open("lists", listsMigrations)
      let details = try await new.read { db in
        try ids.map { try TaskDetails.one(TaskReference(id: $0), for: alice, on: db) }
      }
      #expect(details.map(\.reschedules.count) == [2, 0] && details.map(\.task.rescheduleCount) == [2, 0])
      #expect(details.map(\.task.missedReasonAt) == [now, nil])
      #expect(details.allSatisfy { $0.task.recurrence == nil && !$0.task.isHidden })
      await new.close()
    }
  }
}
