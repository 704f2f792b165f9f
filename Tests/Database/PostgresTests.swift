import Database
import Foundation
import Postgres
import Support
import Testing

/// Failures that only PostgreSQL has: connections that break, a server that is stopped, TLS.
@Suite(.enabled(if: postgresURL != nil)) struct PostgresTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key)")]

  private func backend(_ database: any Database) async throws -> Int {
    try await database.read { try $0.row("select pg_backend_pid() as pid")?.get("pid", as: Int.self) ?? 0 }
  }

  @Test func aTransactionCutOffHalfWayLeavesNothing() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      await #expect(throws: DatabaseFailure.self) {
        try await database.write { db in
          try db.change("insert into a (x) values (1)")
          // The server ends this very connection before the commit.
          _ = try db.rows("select pg_terminate_backend(pg_backend_pid())")
          try db.change("insert into a (x) values (2)")
        }
      }
      #expect(try await database.read { try $0.rows("select * from a").isEmpty })
      await database.close()
    }
  }

  @Test func aConnectionThatDiedIdleIsReplacedUnseen() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      let before = try await backend(database)
      try await executeSQL(testDatabase.databaseURL, "select pg_terminate_backend(\(before))")
      let after = try await backend(database)
      #expect(after != before)
      // Also in a transaction that writes: the rows are written once.
      try await executeSQL(testDatabase.databaseURL, "select pg_terminate_backend(\(after))")
      try await database.write { db in
        for x in [1, 2] { try db.change("insert into a (x) values (\(x))") }
      }
      #expect(try await database.read { try $0.rows("select x from a").count } == 2)
      await database.close()
    }
  }

  /// The first statement is sent together with the `begin` of its transaction.
  @Test func aFirstStatementThatFailsLeavesTheConnectionAsItWas() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      let before = try await backend(database)
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      for statement in ["insert into a (x) values (1)", "insert into nowhere (x) values (1)"] as [SQL] {
        await #expect(throws: DatabaseFailure.self) { try await database.write { db in try db.change(statement) } }
        await #expect(throws: DatabaseFailure.self) {
          try await database.write { db in
            // `try?`: nothing after a failure is committed, even when the body goes on.
            _ = try? db.change(statement)
            try db.change("insert into a (x) values (2)")
          }
        }
        await #expect(throws: DatabaseFailure.self) {
          // `try?`: also when no statement follows it.
          try await database.write { db in _ = try? db.change(statement) }
        }
        await #expect(throws: DatabaseFailure.self) { try await database.read { db in try db.rows("select 1 / 0") } }
      }
      // Without a statement no transaction is begun.
      try await database.write { _ in }
      try await database.read { _ in }
      #expect(try await database.read { try $0.rows("select x from a").count } == 1)
      #expect(try await backend(database) == before)
      await database.close()
    }
  }

  @Test func aReadThatHasEndedHoldsNothing() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      _ = try await database.read { try $0.rows("select * from a") }
      // Its commit was sent without waiting for the result: no transaction stays open and holds a lock.
      try await executeSQL(testDatabase.databaseURL, "set lock_timeout = 5000; drop table test.a")
      await database.close()
    }
  }

  @Test func aBodyThatSwallowsAFailureIsNotCommitted() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema)
      await #expect(throws: DatabaseFailure.self) {
        try await database.write { db in
          try db.change("insert into a (x) values (1)")
          // `try?`: swallowing it is what this test is about.
          _ = try? db.change("insert into a (x) values (1)")
        }
      }
      #expect(try await database.read { try $0.rows("select * from a").isEmpty })
      await database.close()
    }
  }

  @Test func whoWaitsTooLongForAConnectionIsTurnedAway() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try Postgres(
        url: testDatabase.databaseURL, schema: "test", connections: 1, acquireTimeout: .seconds(2), logger: quiet
      )
      try await database.migrate(Self.schema)
      let held = HeldConnection()
      async let busy = held.hold(database)
      await held.waitUntilHeld()
      // The only connection is in use until this test releases it.
      await #expect(throws: DatabaseFailure.self) { _ = try await database.read { try $0.rows("select 1") } }
      held.release()
      #expect(try await busy)
      let waiting = Task { try await database.read { try $0.rows("select 1").count } }
      waiting.cancel()
      _ = await waiting.result
      #expect(try await database.read { try $0.rows("select 1").count } == 1)
      await database.close()
    }
  }

  /// Each connection is a process of the server's.
  @Test func connectionsThatNothingNeedsAreClosedButOne() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try Postgres(
        url: testDatabase.databaseURL, schema: "test", connections: 6, idleTimeMax: .milliseconds(500), logger: quiet)
      try await database.migrate(Self.schema)
      let sessions: SQL = """
        select count(*) as n from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'
        """
      for _ in 1...2 {
        let used = try await atOnce(6) { _ in
          try await database.read { db in
            _ = try db.rows("select pg_sleep(1)")
            return try db.row("select pg_backend_pid() as pid")?.get("pid", as: Int.self)
          }
        }
        #expect(Set(used).count > 1, "the premise: they need more than one")
        // The last one answers that it is alone.
        try await eventually("one session") {
          try await database.readOnce { try $0.row(sessions)?.get("n", as: Int.self) } == 1
        }
      }
      await database.close()
    }
  }

  @Test func aRestartOfTheServerCostsOnlyWhatWasUnderWay() async throws {
    try await withPostgresServer { postgresServer in
      let database = try Postgres(url: postgresServer.url, schema: "test", connections: 4, logger: quiet)
      try await database.migrate(Self.schema)
      try await database.write { try $0.change("insert into a (x) values (1)") }
      try await postgresServer.stop()
      let isSaidAtOnce = await isDone(within: .seconds(2)) {
        await #expect(throws: DatabaseFailure.self) { _ = try await database.read { try $0.rows("select * from a") } }
      }
      #expect(isSaidAtOnce)
      try await postgresServer.start()
      try await eventually("the database") {
        do { return try await database.read { try $0.rows("select * from a").count } == 1 } catch is DatabaseFailure {
          return false
        }
      }
      try await database.write { try $0.change("insert into a (x) values (2)") }
      await database.close()
    }
  }

  @Test func tlsIsSpokenWhenTheURLAsksForIt() async throws {
    try await withPostgresServer(tls: true) { postgresServer in
      func isEncrypted(_ options: String) async throws -> Bool? {
        let database = try Postgres(url: postgresServer.url + options, schema: "test", connections: 1, logger: quiet)
        defer { Task { await database.close() } }
        return try await database.read { db in
          try db.row("select ssl from pg_stat_ssl where pid = pg_backend_pid()")?.get("ssl")
        }
      }
      let root = "&sslrootcert=\(postgresServer.certificate)"
      #expect(try await isEncrypted("?sslmode=verify-full\(root)") == true)
      #expect(try await isEncrypted("?sslmode=require") == true)
      #expect(try await isEncrypted("?sslmode=disable") == false)
      // A certificate of an untrusted authority is refused.
      let stranger = try await postgresServer.unrelatedCertificate()
      await #expect(throws: DatabaseFailure.self) {
        _ = try await isEncrypted("?sslmode=verify-full&sslrootcert=\(stranger)")
      }
    }
    let server = try #require(postgresURL)
    let plain = try Postgres(url: server + "?sslmode=require", schema: "test", connections: 1, logger: quiet)
    await #expect(throws: DatabaseFailure.self) { _ = try await plain.read { try $0.rows("select 1") } }
    await plain.close()
  }

  @Test func anotherRoleMayOwnTheTables() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let role = "app_\(testDatabase.folder.lastPathComponent.suffix(12))"
      try await executeSQL(testDatabase.databaseURL, "create role \(role) login")
      let appURL = testDatabase.databaseURL.replacingOccurrences(of: "//kith@", with: "//\(role)@")
      #expect(appURL != testDatabase.databaseURL)
      let database = try Postgres(
        url: appURL, schema: "test", migrationURL: testDatabase.databaseURL, connections: 2, logger: quiet)
      try await database.migrate(Self.schema)
      try await database.write { try $0.change("insert into a (x) values (1)") }
      await #expect(throws: DatabaseFailure.self) { try await database.write { try $0.change("drop table a") } }
      await database.close()
      try await executeSQL(testDatabase.databaseURL, "drop owned by \(role); drop role \(role)")
    }
  }
}
