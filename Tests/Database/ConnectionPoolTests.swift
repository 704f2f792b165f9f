import Database
import Foundation
import Support
import Synchronization
import Testing

@testable import Postgres

/// How connections are opened.
@Suite struct ConnectionPoolTests {
  /// The number of connections that have been made, none of which opens before the test says so.
  private final class Openings: Sendable {
    private let made = Mutex(0)
    private let held = HeldConnection()

    var count: Int { made.withLock { $0 } }

    func connection(to url: String) -> PooledConnection {
      made.withLock { $0 += 1 }
      return PooledConnection(name: "test") { [held] in
        #expect(held.wait())
        return try ConnectionHandle(try PostgresURL(url), Postgres.settings("public"))
      }
    }

    func release(_ count: Int) { for _ in 0..<count { held.release() } }
  }

  private static let size = 4

  /// Also not for many jobs, unless the one that opens takes too long.
  @Test(.enabled(if: postgresURL != nil), arguments: [(Duration.seconds(600), 1), (.zero, size)])
  func oneConnectionOpensAtATime(openingTimeMax: Duration, expected: Int) async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let openings = Openings()
      let pool = ConnectionPool(
        size: Self.size, acquireTimeout: .seconds(600), idleTimeMax: .seconds(600), openingTimeMax: openingTimeMax
      ) { _ in openings.connection(to: testDatabase.databaseURL) }
      let count = 2 * Self.size
      let jobs = (0..<count).map { _ in Task { try await pool.withConnection { try $0.openHandle().isOpen } } }
      try await eventually("all jobs in the queue") { pool.waitingCount == count }
      try await eventually("\(expected) connections, not \(openings.count)") { openings.count == expected }
      openings.release(Self.size)
      for job in jobs { #expect(try await job.value) }
      pool.close()
    }
  }

  @Test func betweenTwoAttemptsCallsFailForTheReasonOfTheLast() async throws {
    let database = try Postgres(url: "postgresql://127.0.0.1:1/none", schema: "test", connections: 1, logger: quiet)
    let reasons = Mutex<[String]>([])
    for _ in 0..<3 {
      await #expect(throws: DatabaseFailure.self) {
        do { _ = try await database.rows(of: ["select 1 as one"]) } catch let failure as DatabaseFailure {
          reasons.withLock { $0.append("\(failure)") }
          throw failure
        }
      }
    }
    #expect(reasons.withLock { $0.count { $0.contains("Connection refused") } } == 3, "\(reasons.withLock { $0 })")
    await database.close()
  }

  @Test(.enabled(if: postgresURL != nil)) func aDatabaseWhoseMigrationFailsIsClosed() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      await #expect(throws: DatabaseFailure.self) {
        _ = try await testDatabase.open("broken", [Migration("broken", "select nonsense;")])
      }
      let database = try await testDatabase.open("test", [], connections: 1)
      try await eventually("no connection but this one") {
        try await database.read { db in
          try db.row(
            """
            select 1 as one from pg_stat_activity where backend_type = 'client backend'
              and datname = current_database() and pid <> pg_backend_pid()
            """) == nil
        }
      }
      await database.close()
    }
  }
}
