import Database
import Support
import Synchronization
import Testing

@testable import Postgres

/// A commit that its standby has not confirmed is not acknowledged, also where PostgreSQL calls it a success.
@Suite struct ReplicationTests {
  @Test func aCommitWhoseWaitIsCancelledIsNotAcknowledged() async throws {
    try await withPostgresServer { server in
      let database = try Postgres(url: server.url, schema: "test", connections: 2, logger: quiet)
      try await database.migrate([Migration("tables", "create table a (x bigint primary key)")])
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      try await executeSQL(server.url, "alter system set synchronous_standby_names = 'nobody'")
      try await executeSQL(server.url, "select pg_reload_conf()")

      // Commits wait once a process of the server has read the setting; those before that are acknowledged.
      let last = Mutex(1)
      let write = Task {
        while true {
          let x = last.withLock { last in
            last += 1
            return last
          }
          try await database.write { db in try db.change("insert into a (x) values (\(x))") }
        }
      }
      try await eventually("a commit that waits") {
        try await database.read { db in
          try db.row("select 1 as one from pg_stat_activity where wait_event = 'SyncRep'") != nil
        }
      }
      try await executeSQL(
        server.url, "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
      await #expect(throws: DatabaseFailure.outcomeUnknown) { try await write.value }
      // The premise: here it is committed.
      let committed = last.withLock { $0 }
      #expect(try await database.read { try $0.rows("select x from a").count } == committed)

      // The connection is as good as before.
      try await executeSQL(server.url, "alter system reset synchronous_standby_names")
      try await executeSQL(server.url, "select pg_reload_conf()")
      try await database.write { db in try db.change("insert into a (x) values (\(committed + 1))") }
      #expect(try await database.read { try $0.rows("select x from a").count } == committed + 1)
      await database.close()
    }
  }
}
