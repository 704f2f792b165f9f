import Database
import Foundation
import Support
import Testing

@testable import Postgres

/// Reads that wait for the round trip of others, though another connection is idle.
@Suite struct RoundTripSharingTests {
  private struct NotOpened: Error {}

  /// A connection that is never opened.
  private static func connection() -> PooledConnection { PooledConnection(name: "test") { throw NotOpened() } }

  @Test func fewReadsWaitForOneThatHasJustBegun() {
    let (one, other) = (Self.connection(), Self.connection())
    defer { for connection in [one, other] { connection.close() } }
    var sharing = RoundTripSharing(readsMax: 3, ageMax: .microseconds(200), durationMax: .microseconds(500))
    let start = ContinuousClock.now
    #expect(!sharing.holds(1, at: start))
    sharing.began(on: one, at: start)
    #expect(sharing.holds(1, at: start) && sharing.holds(2, at: start + .microseconds(199)))
    #expect(!sharing.holds(3, at: start) && !sharing.holds(1, at: start + .microseconds(200)))
    // One that has begun before the last does not matter any more.
    sharing.began(on: other, at: start + .microseconds(300))
    sharing.ended(on: one, at: start + .microseconds(310))
    #expect(sharing.holds(1, at: start + .microseconds(310)))
    sharing.ended(on: other, at: start + .microseconds(320))
    #expect(!sharing.holds(1, at: start + .microseconds(330)))
  }

  @Test func noneWaitsWhereRoundTripsTakeLong() {
    let connection = Self.connection()
    defer { connection.close() }
    var sharing = RoundTripSharing(durationMax: .microseconds(500))
    let start = ContinuousClock.now
    sharing.began(on: connection, at: start)
    sharing.ended(on: connection, at: start + .microseconds(500))
    sharing.began(on: connection, at: start + .milliseconds(1))
    #expect(!sharing.holds(1, at: start + .milliseconds(1)))
    sharing.ended(on: connection, at: start + .microseconds(1499))
    // Also where they overlap, so that the last one to begin is never the one that ends.
    let other = Self.connection()
    defer { other.close() }
    var overlapping = sharing
    overlapping.began(on: connection, at: start + .milliseconds(2))
    overlapping.began(on: other, at: start + .milliseconds(3))
    overlapping.ended(on: connection, at: start + .milliseconds(3))
    #expect(!overlapping.holds(1, at: start + .milliseconds(3)))
    sharing.began(on: connection, at: start + .milliseconds(2))
    #expect(sharing.holds(1, at: start + .milliseconds(2)))
  }

  /// Two reads that come during the round trip of a third, and the connections of all of them.
  private func connections(_ sharing: RoundTripSharing) async throws -> (first: Int, others: [Int], areOne: Bool) {
    try await withPool(sharing) { pool in
      let read: @Sendable (SQL) async throws -> (Int, String) = { statement in
        let row = try #require(try await pool.rows(of: [statement], whenConnected: {}).first?.first)
        return (try row.get("pid"), try row.get("began"))
      }
      let first = Task {
        try await read(
          "select pg_backend_pid() as pid, cast(now() as text) as began, cast(pg_sleep(2) as text) as slept")
      }
      try await eventually("the first is under way") { pool.waitingCount == 0 && pool.idleCount == 1 }
      let others = (0..<2).map { _ in
        Task { try await read("select pg_backend_pid() as pid, cast(now() as text) as began") }
      }
      let (one, two, three) = (try await first.value, try await others[0].value, try await others[1].value)
      return (one.0, [two.0, three.0], two.1 == three.1)
    }
  }

  /// A pool of two connections, both idle.
  private func withPool<T>(_ sharing: RoundTripSharing, _ body: (ConnectionPool) async throws -> T) async throws -> T {
    try await withTestDatabase(.postgres) { testDatabase in
      let url = try PostgresURL(testDatabase.databaseURL)
      let pool = ConnectionPool(
        size: 2, acquireTimeout: .seconds(600), idleTimeMax: .seconds(600), openingTimeMax: .zero, sharing: sharing
      ) { _ in PooledConnection(name: "test") { try ConnectionHandle(url, Postgres.settings("public")) } }
      defer { pool.close() }
      let held = HeldConnection()
      let bodies = (0..<2).map { _ in
        Task {
          try await pool.withConnection { connection in
            _ = try connection.openHandle()
            #expect(held.wait())
          }
        }
      }
      try await eventually("two connections") { pool.waitingCount == 0 }
      for _ in 0..<2 { held.release() }
      for body in bodies { try await body.value }
      try await eventually("both are idle") { pool.idleCount == 2 }
      return try await body(pool)
    }
  }

  @Test(.enabled(if: postgresURL != nil)) func theyShareTheNextRoundTripOfItsConnection() async throws {
    let long = Duration.seconds(600)
    let connections = try await connections(RoundTripSharing(ageMax: long, durationMax: long, waitMax: long))
    #expect(connections.others == [connections.first, connections.first] && connections.areOne)
  }

  @Test(.enabled(if: postgresURL != nil)) func theyDoNotWaitForOneThatTakesLong() async throws {
    let connections = try await connections(
      RoundTripSharing(ageMax: .milliseconds(400), durationMax: .seconds(600), waitMax: .milliseconds(500)))
    #expect(!connections.others.contains(connections.first))
  }
}
