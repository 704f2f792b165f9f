import Database
import Foundation
import Support
import Synchronization
import Testing

@testable import Postgres

/// Failures of statement batches (``StatementBatchTests``) and of waiting for a connection that only PostgreSQL has.
@Suite(.enabled(if: postgresURL != nil)) struct PostgresPipelineTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key)")]

  /// A database on which no caller times out while it waits for a connection, however busy the machine is.
  private func databaseWithLongTimeout(_ testDatabase: TestDatabase, connections: Int) throws -> Postgres {
    try Postgres(
      url: testDatabase.databaseURL, schema: "test", connections: connections, acquireTimeout: .seconds(600),
      logger: quiet)
  }

  private static let backend: SQL = "select pg_backend_pid() as pid"

  @Test func aSingleReadSurvivesAConnectionThatDiedIdle() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      let before = try await database.readOnce { try $0.row(Self.backend)?.get("pid", as: Int.self) ?? 0 }
      try await executeSQL(testDatabase.databaseURL, "select pg_terminate_backend(\(before))")
      let after = try await database.readOnce { db in
        try db.rows(of: [Self.backend, "select x from a"])[0][0].get("pid", as: Int.self)
      }
      #expect(after != before)
      await database.close()
    }
  }

  @Test func aSingleReadThatFailsLeavesTheConnectionAsItWas() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      let before = try await database.readOnce { try $0.row(Self.backend)?.get("pid", as: Int.self) }
      await #expect(throws: DatabaseFailure.self) {
        _ = try await database.readOnce { try $0.rows(of: ["select 1 as one", "select 1 / 0", "select 2 as two"]) }
      }
      await #expect(throws: DatabaseFailure.self) { _ = try await database.readOnce { try $0.rows("select 1 / 0") } }
      // Two calls where one is allowed.
      await #expect(throws: DatabaseFailure.self) {
        try await database.readOnce { db in
          _ = try db.rows("select 1 as one")
          _ = try db.rows("select 2 as two")
        }
      }
      // A statement that writes, and more statements than can be prepared at once.
      await #expect(throws: DatabaseFailure.self) {
        try await database.readOnce { db in _ = try db.change("insert into a (x) values (1)") }
      }
      await #expect(throws: DatabaseFailure.self) {
        try await database.readOnce { db in _ = try db.rows("insert into a (x) values (1) returning x") }
      }
      await #expect(throws: DatabaseFailure.self) {
        let statements = (0..<300).map { SQL(stringLiteral: "select \($0) as n") }
        _ = try await database.readOnce { try $0.rows(of: statements) }
      }
      let after = try await database.readOnce { db in
        try db.rows(of: [Self.backend, "select x from a"])
      }
      #expect(try after[0][0].get("pid", as: Int.self) == before && after[1].isEmpty)
      try await database.write { db in try db.enqueue("insert into a (x) values (1)") }
      #expect(try await database.read { try $0.rows("select x from a").count } == 1)
      await database.close()
    }
  }

  /// The next transaction on the same connection does not see queued statements or the failure of the previous one.
  @Test func nothingOfAFailureIsLeftToTheNext() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      let before = try await database.readOnce { try $0.row(Self.backend)?.get("pid", as: Int.self) }
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      await #expect(throws: DatabaseFailure.self) {
        try await database.write { db in try db.enqueue("insert into a (x) values (1)") }
      }
      await #expect(throws: DatabaseFailure.self) {
        _ = try await database.read { db in try db.enqueue("select 1 / 0") }
      }
      await #expect(throws: DatabaseFailure.self) {
        try await database.write { db in
          try db.enqueue("insert into a (x) values (2)")
          // `try?`: text that cannot be sent, so that the enqueued statement was not sent either.
          _ = try? db.rows("select \("\0") as text")
          try db.change("insert into a (x) values (3)")
        }
      }
      let after = try await database.readOnce { db in try db.rows(of: [Self.backend, "select x from a"]) }
      #expect(try after[0][0].get("pid", as: Int.self) == before && after[1].count == 1)
      await database.close()
    }
  }

  @Test func aConnectionThatBreaksUnderStatementsThatWaitedLeavesNothing() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      for isLast in [true, false] {
        let failure = await #expect(throws: DatabaseFailure.self) {
          try await database.write { db in
            try db.change("insert into a (x) values (1)")
            try db.enqueue("insert into a (x) values (2)")
            try db.enqueue("select pg_terminate_backend(pg_backend_pid())")
            if !isLast { _ = try db.rows("select 1 as one") }
          }
        }
        // The outcome of a commit that was sent is unknown.
        #expect(!isLast || failure == .outcomeUnknown)
        #expect(try await database.read { try $0.rows("select x from a").isEmpty })
      }
      await database.close()
    }
  }

  /// With one connection, waiting callers are served in the order of their calls, and cancelled ones not at all.
  @Test func thoseWhoWaitAreServedInTheirOrder() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try databaseWithLongTimeout(testDatabase, connections: 1)
      let held = HeldConnection()
      async let busy = held.hold(database)
      await held.waitUntilHeld()
      let served = ServedNumbers()
      var waiting: [Task<Void, any Error>] = []
      for number in 0..<20 {
        waiting.append(Task { try await database.read { _ in served.append(number) } })
        try await eventually("number \(number) in the queue") { database.pool.waitingCount == number + 1 }
      }
      for number in stride(from: 0, to: 20, by: 3) { waiting[number].cancel() }
      for number in stride(from: 0, to: 20, by: 3) {
        let result = await waiting[number].result
        #expect(throws: CancellationError.self) { try result.get() }
      }
      held.release()
      #expect(try await busy)
      for (number, task) in waiting.enumerated() where !number.isMultiple(of: 3) { try await task.value }
      #expect(served.numbers == (0..<20).filter { !$0.isMultiple(of: 3) })
      await database.close()
      await #expect(throws: DatabaseFailure.self) { _ = try await database.readOnce { try $0.rows("select 1 as one") } }
    }
  }

  /// 400 concurrent reads on three connections, a third of them cancelled at a random moment: each is served or
  /// cancelled, and all connections are available afterwards.
  @Test func callingOffLosesNoConnection() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try databaseWithLongTimeout(testDatabase, connections: 3)
      let outcomes = try await atOnce(400) { number in
        let task = Task {
          try await database.readOnce { try $0.row("select cast(\(number) as bigint) as n")?.get("n", as: Int.self) }
        }
        if number.isMultiple(of: 3) {
          try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
          task.cancel()
        }
        switch await task.result {
        case .success(let answer): return answer == number
        case .failure(let error):
          if !(error is CancellationError) { Issue.record("\(number): \(error)") }
          return number.isMultiple(of: 3)
        }
      }
      #expect(outcomes.allSatisfy { $0 })
      let (inside, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      async let held = atOnce(3) { _ in
        try await database.read { _ in
          inside.signal()
          return release.wait(timeout: .now() + 600) == .success
        }
      }
      // All three at the same time.
      await Task.detached { for _ in 0..<3 { _ = inside.wait(timeout: .now() + 300) } }.value
      for _ in 0..<3 { release.signal() }
      #expect(try await held == [true, true, true])
      await database.close()
    }
  }
}

/// The numbers of the callers that were served, in order.
private final class ServedNumbers: Sendable {
  private let servedNumbers = Mutex<[Int]>([])

  var numbers: [Int] { servedNumbers.withLock { $0 } }

  func append(_ number: Int) { servedNumbers.withLock { $0.append(number) } }
}
