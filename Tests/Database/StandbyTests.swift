import Database
import Foundation
import Support
import Synchronization
import Testing

@testable import Postgres

/// Reads on the standby of a cluster (``Database/readAllowingStale(_:)``).
@Suite(.serialized, .enabled(if: PatroniCluster.isInstalled)) struct StandbyTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key)")]

  @Test func aStandbyReadsUntilItIsBehindOrGone() async throws {
    try await withPatroniCluster { cluster in
      let database = try Postgres(
        url: cluster.url, schema: "test", readURL: cluster.standbyURL, connections: 2, logger: quiet)
      try await database.migrate(Self.schema)
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      let isStandby = { @Sendable in
        try await database.readAllowingStale { db in
          try db.row("select pg_is_in_recovery() as is_standby")?.get("is_standby", as: Bool.self) ?? false
        }
      }
      // The first is the primary's, as it is not known yet what the standby must have.
      #expect(try await !isStandby())
      try await eventually("a read on the standby", within: .seconds(240)) { try await isStandby() }
      #expect(try await database.readAllowingStale { try $0.rows("select x from a").count } == 1)
      // It cannot be written to, and other reads are the primary's.
      await #expect(throws: DatabaseFailure.self) {
        try await database.readAllowingStale { db in _ = try db.rows("insert into a (x) values (2) returning x") }
      }
      #expect(
        try await database.read { try $0.row("select pg_is_in_recovery() as x")?.get("x", as: Bool.self) } == false)
      // A standby that does not replay what the primary writes.
      let startup = try await database.readAllowingStale { db in
        try db.row("select pid from pg_stat_activity where backend_type = 'startup'")?.get("pid", as: Int.self)
      }
      let replaying = pid_t(try #require(startup))
      #expect(kill(replaying, SIGSTOP) == 0)
      defer { kill(replaying, SIGCONT) }
      try await database.write { db in try db.change("insert into a (x) values (2)") }
      try await eventually("reads on the primary", within: .seconds(240)) { try await !isStandby() }
      let seen = try await database.readAllowingStale { try $0.rows("select x from a").count }
      #expect(seen == 2)
      #expect(kill(replaying, SIGCONT) == 0)
      try await eventually("the standby again", within: .seconds(240)) { try await isStandby() }
      // One that has gone, as it takes over from the primary that dies.
      try await cluster.killPrimary()
      try await eventually("reads and writes", within: .seconds(240)) {
        do {
          _ = try await isStandby()
          try await database.write { db in try db.change("insert into a (x) values (3)") }
          return true
        } catch is DatabaseFailure { return false }
      }
      #expect(try await database.readAllowingStale { try $0.rows("select x from a").count } >= 2)
      await database.close()
    }
  }

  /// PostgreSQL cancels a read on a standby when it holds up what the standby has to replay.
  @Test func whatTheStandbyCancelsThePrimaryReads() async throws {
    try await withPatroniCluster { cluster in
      let database = try Postgres(
        url: cluster.url, schema: "test", readURL: cluster.standbyURL, connections: 2, logger: quiet)
      try await database.migrate(Self.schema)
      try await database.write { db in try db.change("insert into a (x) select generate_series(1, 1000)") }
      try await executeSQL(cluster.standbyURL, "alter system set max_standby_streaming_delay = '100ms'")
      try await executeSQL(cluster.standbyURL, "alter system set hot_standby_feedback = off")
      try await executeSQL(cluster.standbyURL, "select pg_reload_conf()")
      let places = Mutex<[Bool]>([])
      let read = { @Sendable in
        try await database.readAllowingStale { db in
          let row = try db.row("select pg_is_in_recovery() as is_standby, (select count(*) from a) as count")
          let isStandby = try row?.get("is_standby", as: Bool.self) ?? false
          places.withLock { $0.append(isStandby) }
          // While this snapshot is needed, the standby cannot replay that its rows were removed.
          if isStandby { _ = try db.rows("select pg_sleep(20), count(*) from a") }
          return try row?.get("count", as: Int.self) ?? 0
        }
      }
      let isStandby = { @Sendable in
        try await database.readAllowingStale { db in
          try db.row("select pg_is_in_recovery() as x")?.get("x", as: Bool.self) ?? false
        }
      }
      try await eventually("a read on the standby", within: .seconds(240)) { try await isStandby() }
      let reading = Task { try await read() }
      try await eventually("the read on the standby", within: .seconds(240)) { places.withLock { $0 == [true] } }
      try await database.write { db in try db.change("delete from a where x > 1") }
      try await executeSQL(cluster.url, "vacuum test.a")
      #expect(try await reading.value == 1)
      #expect(places.withLock { $0 } == [true, false])
      // It is not left alone: the conflict was this read's.
      try await eventually("the standby again", within: .seconds(240)) { try await isStandby() }
      await database.close()
    }
  }
}
