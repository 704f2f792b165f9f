import Database
import Foundation
import Support
import Synchronization
import Testing

@testable import Postgres

/// What is sent together (``TogetherTests``), and those who wait for a connection, as only PostgreSQL can fail.
@Suite(.enabled(if: postgresURL != nil)) struct TogetherOnPostgresTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key)")]

  /// For what a busy machine may take its time with: nobody is turned away.
  private func patient(_ place: Place, connections: Int) -> Postgres {
    Postgres(
      url: place.databaseURL, schema: "test", connections: connections, patience: .seconds(600), logger: quiet)
  }

  private static let backend: SQL = "select pg_backend_pid() as pid"

  @Test func aSingleReadSurvivesAConnectionThatDiedIdle() async throws {
    try await withPlace(.postgres) { place in
      let database = try await place.open("test", Self.schema, connections: 1)
      let before = try await database.readOnce { try $0.row(Self.backend)?.get("pid", as: Int.self) ?? 0 }
      try await administer(place.databaseURL, "select pg_terminate_backend(\(before))")
      let after = try await database.readOnce { db in
        try db.rows(of: [Self.backend, "select x from a"])[0][0].get("pid", as: Int.self)
      }
      #expect(after != before)
      await database.close()
    }
  }

  @Test func aSingleReadThatFailsLeavesTheConnectionAsItWas() async throws {
    try await withPlace(.postgres) { place in
      let database = try await place.open("test", Self.schema, connections: 1)
      let before = try await database.readOnce { try $0.row(Self.backend)?.get("pid", as: Int.self) }
      await #expect(throws: DatabaseFailure.self) {
        _ = try await database.readOnce { try $0.rows(of: ["select 1 as one", "select 1 / 0", "select 2 as two"]) }
      }
      await #expect(throws: DatabaseFailure.self) { _ = try await database.readOnce { try $0.rows("select 1 / 0") } }
      // One that is not what it says.
      await #expect(throws: DatabaseFailure.self) {
        try await database.readOnce { db in
          _ = try db.rows("select 1 as one")
          _ = try db.rows("select 2 as two")
        }
      }
      // One that writes, and one that cannot be asked.
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
      try await database.write { db in try db.later("insert into a (x) values (1)") }
      #expect(try await database.read { try $0.rows("select x from a").count } == 1)
      await database.close()
    }
  }

  /// The next transaction on the same connection is a transaction of its own.
  @Test func nothingOfAFailureIsLeftToTheNext() async throws {
    try await withPlace(.postgres) { place in
      let database = try await place.open("test", Self.schema, connections: 1)
      let before = try await database.readOnce { try $0.row(Self.backend)?.get("pid", as: Int.self) }
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      await #expect(throws: DatabaseFailure.self) {
        try await database.write { db in try db.later("insert into a (x) values (1)") }
      }
      await #expect(throws: DatabaseFailure.self) {
        _ = try await database.read { db in try db.later("select 1 / 0") }
      }
      await #expect(throws: DatabaseFailure.self) {
        try await database.write { db in
          try db.later("insert into a (x) values (2)")
          // `try?`: text that cannot be sent, so that what waited for it was not sent either.
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
    try await withPlace(.postgres) { place in
      let database = try await place.open("test", Self.schema, connections: 1)
      for isLast in [true, false] {
        let failure = await #expect(throws: DatabaseFailure.self) {
          try await database.write { db in
            try db.change("insert into a (x) values (1)")
            try db.later("insert into a (x) values (2)")
            try db.later("select pg_terminate_backend(pg_backend_pid())")
            if !isLast { _ = try db.rows("select 1 as one") }
          }
        }
        // Nobody can know what became of a commit that was sent.
        #expect(!isLast || failure == .outcomeUnknown)
        #expect(try await database.read { try $0.rows("select x from a").isEmpty })
      }
      await database.close()
    }
  }

  /// One connection: they come to it one after the other, in the order in which they asked, and who is called off before
  /// does not come to it at all.
  @Test func thoseWhoWaitAreServedInTheirOrder() async throws {
    try await withPlace(.postgres) { place in
      let database = patient(place, connections: 1)
      let held = HeldConnection()
      async let busy = held.hold(database)
      await held.isHeld()
      let served = Served()
      var waiting: [Task<Void, any Error>] = []
      for number in 0..<20 {
        waiting.append(Task { try await database.read { _ in served.note(number) } })
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

  /// Four hundred at once on three connections, a third of them called off at any moment: each is served or called off, and
  /// the connections are all there afterwards.
  @Test func callingOffLosesNoConnection() async throws {
    try await withPlace(.postgres) { place in
      let database = patient(place, connections: 3)
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
          return release.wait(timeout: .now() + 60) == .success
        }
      }
      // All three at the same time.
      await Task.detached { for _ in 0..<3 { _ = inside.wait(timeout: .now() + 30) } }.value
      for _ in 0..<3 { release.signal() }
      #expect(try await held == [true, true, true])
      await database.close()
    }
  }
}

private final class Served: Sendable {
  private let noted = Mutex<[Int]>([])

  var numbers: [Int] { noted.withLock { $0 } }

  func note(_ number: Int) { noted.withLock { $0.append(number) } }
}
