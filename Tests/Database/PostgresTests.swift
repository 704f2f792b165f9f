import Database
import Foundation
import Postgres
import Support
import Testing

/// What can only go wrong on PostgreSQL: connections that break, a server that goes away, TLS.
@Suite(.enabled(if: postgresURL != nil)) struct PostgresTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key)")]

  private func backend(_ database: any Database) async throws -> Int {
    try await database.read { try $0.row("select pg_backend_pid() as pid")?.get("pid", as: Int.self) ?? 0 }
  }

  @Test func aTransactionCutOffHalfWayLeavesNothing() async throws {
    try await withPlace(.postgres) { place in
      let database = try await place.open("test", Self.schema, connections: 1)
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
    try await withPlace(.postgres) { place in
      let database = try await place.open("test", Self.schema, connections: 1)
      let before = try await backend(database)
      try await administer(place.databaseURL, "select pg_terminate_backend(\(before))")
      let after = try await backend(database)
      #expect(after != before)
      // Also where something is written: it is written once.
      try await administer(place.databaseURL, "select pg_terminate_backend(\(after))")
      try await database.write { db in
        for x in [1, 2] { try db.change("insert into a (x) values (\(x))") }
      }
      #expect(try await database.read { try $0.rows("select x from a").count } == 2)
      await database.close()
    }
  }

  /// The first statement goes with the beginning of its transaction.
  @Test func aFirstStatementThatFailsLeavesTheConnectionAsItWas() async throws {
    try await withPlace(.postgres) { place in
      let database = try await place.open("test", Self.schema, connections: 1)
      let before = try await backend(database)
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      for statement in ["insert into a (x) values (1)", "insert into nowhere (x) values (1)"] as [SQL] {
        await #expect(throws: DatabaseFailure.self) { try await database.write { db in try db.change(statement) } }
        await #expect(throws: DatabaseFailure.self) {
          try await database.write { db in
            // `try?`: nothing of what follows a failure is kept, even when the body goes on.
            _ = try? db.change(statement)
            try db.change("insert into a (x) values (2)")
          }
        }
        await #expect(throws: DatabaseFailure.self) {
          // `try?`: also where nothing follows it.
          try await database.write { db in _ = try? db.change(statement) }
        }
        await #expect(throws: DatabaseFailure.self) { try await database.read { db in try db.rows("select 1 / 0") } }
      }
      // Nothing is asked, nothing is begun.
      try await database.write { _ in }
      try await database.read { _ in }
      #expect(try await database.read { try $0.rows("select x from a").count } == 1)
      #expect(try await backend(database) == before)
      await database.close()
    }
  }

  @Test func aReadThatHasEndedHoldsNothing() async throws {
    try await withPlace(.postgres) { place in
      let database = try await place.open("test", Self.schema, connections: 1)
      _ = try await database.read { try $0.rows("select * from a") }
      // Its commit was sent and not waited for: nobody has to wait for it, or for a transaction that stays open.
      try await administer(place.databaseURL, "set lock_timeout = 5000; drop table test.a")
      await database.close()
    }
  }

  @Test func aBodyThatSwallowsAFailureIsNotCommitted() async throws {
    try await withPlace(.postgres) { place in
      let database = try await place.open("test", Self.schema)
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
    try await withPlace(.postgres) { place in
      let database = Postgres(
        url: place.databaseURL, schema: "test", connections: 1, patience: .milliseconds(200), logger: quiet)
      try await database.migrate(Self.schema)
      let held = HeldConnection()
      async let busy = held.hold(database)
      await held.isHeld()
      // The one connection is out for as long as this test wants.
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

  @Test func aRestartOfTheServerCostsOnlyWhatWasUnderWay() async throws {
    try await withCluster { cluster in
      let database = Postgres(url: cluster.url, schema: "test", connections: 4, logger: quiet)
      try await database.migrate(Self.schema)
      try await database.write { try $0.change("insert into a (x) values (1)") }
      try await cluster.stop()
      let isSaidAtOnce = await isDone(within: .seconds(2)) {
        await #expect(throws: DatabaseFailure.self) { _ = try await database.read { try $0.rows("select * from a") } }
      }
      #expect(isSaidAtOnce)
      try await cluster.start()
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
    try await withCluster(tls: true) { cluster in
      func isEncrypted(_ options: String) async throws -> Bool? {
        let database = Postgres(url: cluster.url + options, schema: "test", connections: 1, logger: quiet)
        defer { Task { await database.close() } }
        return try await database.read { db in
          try db.row("select ssl from pg_stat_ssl where pid = pg_backend_pid()")?.get("ssl")
        }
      }
      let root = "&sslrootcert=\(cluster.certificate)"
      #expect(try await isEncrypted("?sslmode=verify-full\(root)") == true)
      #expect(try await isEncrypted("?sslmode=require") == true)
      #expect(try await isEncrypted("?sslmode=disable") == false)
      // A certificate that nobody vouches for is refused.
      let stranger = try await cluster.strangersCertificate()
      await #expect(throws: DatabaseFailure.self) {
        _ = try await isEncrypted("?sslmode=verify-full&sslrootcert=\(stranger)")
      }
    }
    let server = try #require(postgresURL)
    let plain = Postgres(url: server + "?sslmode=require", schema: "test", connections: 1, logger: quiet)
    await #expect(throws: DatabaseFailure.self) { _ = try await plain.read { try $0.rows("select 1") } }
    await plain.close()
  }

  @Test func anotherRoleMayOwnTheTables() async throws {
    try await withPlace(.postgres) { place in
      let role = "app_\(place.folder.lastPathComponent.suffix(12))"
      try await administer(place.databaseURL, "create role \(role) login")
      let appURL = place.databaseURL.replacingOccurrences(of: "//kith@", with: "//\(role)@")
      #expect(appURL != place.databaseURL)
      let database = Postgres(
        url: appURL, schema: "test", migrationURL: place.databaseURL, connections: 2, logger: quiet)
      try await database.migrate(Self.schema)
      try await database.write { try $0.change("insert into a (x) values (1)") }
      await #expect(throws: DatabaseFailure.self) { try await database.write { try $0.change("drop table a") } }
      await database.close()
      try await administer(place.databaseURL, "drop owned by \(role); drop role \(role)")
    }
  }
}
