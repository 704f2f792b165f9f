import Database
import Foundation
import Support
import Testing

@testable import Postgres

/// A database behind PgBouncer in transaction mode: each transaction may have another session of the server.
@Suite(.enabled(if: postgresURL != nil && PgBouncer.isInstalled)) struct PgBouncerTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key, at timestamptz)")]

  private func withDatabase(
    connections: Int = 6, _ body: (Postgres, _ pooledURL: String) async throws -> Void
  ) async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      try await withPgBouncer(before: testDatabase.databaseURL) { pooler in
        let database = try Postgres(
          url: pooler.url, schema: "test", directURL: testDatabase.databaseURL, connections: connections,
          acquireTimeout: .seconds(600), logger: quiet)
        try await database.migrate(Self.schema)
        try await body(database, pooler.url)
        await database.close()
      }
    }
  }

  /// Many callers on more connections than there are sessions: statements, settings and transactions of one are never
  /// seen by another.
  @Test func manyCallersShareFewSessions() async throws {
    try await withDatabase { database, _ in
      let pids = try await atOnce(200) { number in
        let at = Date(timeIntervalSince1970: 1_700_000_000.5 + Double(number))
        try await database.write { db in
          try db.enqueue("insert into a (x, at) values (\(number), \(at))")
          _ = try db.row("select count(*) as n from a where x = \(number)")
        }
        let rows = try await database.rows(of: [
          "select x, at from a where x = \(number)", "select pg_backend_pid() as pid",
          "select current_setting('search_path') as path, current_setting('statement_timeout') as timeout",
        ])
        #expect(try rows[0][0].get("x") == number && rows[0][0].get("at") == at)
        #expect(try rows[2][0].get("path") == "\"test\"" && rows[2][0].get("timeout") == "8s")
        return try rows[1][0].get("pid", as: Int.self)
      }
      #expect(Set(pids).count <= 2)
      #expect(try await database.read { try $0.rows("select x from a").count } == 200)
    }
  }

  @Test func aTransactionIsRolledBackAsAWhole() async throws {
    try await withDatabase { database, _ in
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      let failure = await #expect(throws: DatabaseFailure.self) {
        try await database.write { db in
          try db.change("insert into a (x) values (2)")
          try db.change("insert into a (x) values (1)")
        }
      }
      guard case .unique = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(try await database.readOnce { try $0.rows("select x from a").count } == 1)
      // Reads cannot write, in a transaction of several statements or of one.
      await #expect(throws: DatabaseFailure.self) {
        _ = try await database.rows(of: ["insert into a (x) values (3) returning x"])
      }
      await #expect(throws: DatabaseFailure.self) {
        _ = try await database.read { try $0.rows("insert into a (x) values (3) returning x") }
      }
      #expect(try await database.row("select x from a where x = 3") == nil)
    }
  }

  /// With one connection, the next read has the one on which the last has failed.
  @Test func aReadThatFailsLeavesTheConnectionAsItWas() async throws {
    try await withDatabase(connections: 1) { database, _ in
      for _ in 0..<2 {
        await #expect(throws: DatabaseFailure.self) {
          _ = try await database.rows(of: ["insert into a (x) values (3) returning x"])
        }
        #expect(try await database.row("select x from a where x = 3") == nil)
        await #expect(throws: DatabaseFailure.self) {
          _ = try await database.readOnce { try $0.rows("select x / 0 from (values (1)) as one (x)") }
        }
        #expect(try await database.readOnce { try $0.rows("select x from a").isEmpty })
      }
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      #expect(try await database.row("select x from a") != nil)
    }
  }

  @Test func withoutTheServersOwnAddressItDoesNotStart() throws {
    let failure = #expect(throws: DatabaseFailure.self) {
      _ = try Postgres(url: "postgresql://a/b?pgbouncer=true", schema: "test", connections: 1, logger: quiet)
    }
    #expect("\(String(describing: failure))".contains("DIRECT_DATABASE_URL"))
  }

  @Test(arguments: [
    ("postgresql://a/b", "postgresql://a/b", false),
    ("postgresql://a/b?pgbouncer=true", "postgresql://a/b", true),
    ("postgresql://a,c:1/b?sslmode=require&pgbouncer=true&x=y", "postgresql://a,c:1/b?sslmode=require&x=y", true),
    ("postgresql://a/b?pgbouncer=false", "postgresql://a/b", false),
  ]) func theParameterIsOurs(url: String, rest: String, isPooled: Bool) throws {
    let parsed = try PostgresURL(url)
    #expect(parsed.text == rest && parsed.isPooledByTransaction == isPooled)
    #expect(throws: DatabaseFailure.self) { _ = try PostgresURL("postgresql://a/b?pgbouncer=maybe") }
  }
}
