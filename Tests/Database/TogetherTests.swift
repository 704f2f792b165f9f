import Database
import Foundation
import Postgres
import Support
import Testing

/// Statements that are sent together, and those that wait for the next one.
@Suite struct TogetherTests {
  private static let schema = [
    Migration("tables", "create table a (x bigint primary key, y bigint not null default 0 check (y >= 0))")
  ]

  private func withDatabase(
    _ engine: Engine, connections: Int = 2, _ body: (any Database) async throws -> Void
  ) async throws {
    try await withPlace(engine) { place in
      let database = try await place.open("test", Self.schema, connections: connections)
      try await body(database)
      await database.close()
    }
  }

  private func kept(_ database: any Database) async throws -> [Int] {
    try await database.read { try $0.rows("select x from a order by x").map { try $0.get("x") } }
  }

  @Test(arguments: engines) func eachSeesWhatThoseBeforeItDid(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let found = try await database.write { db in
        try db.rows(of: [
          "insert into a (x) values (1), (2) returning x", "select x from a order by x",
          "update a set y = 7 where x = 2", "select y as x from a where x = 2", "select x from a where x = 9",
        ]).map { rows in try rows.map { try $0.get("x", as: Int.self) } }
      }
      #expect(found.count == 5)
      #expect(
        found[0].sorted() == [1, 2] && found[1] == [1, 2] && found[2] == [] && found[3] == [7] && found[4] == [])
      let none = try await database.read { try $0.rows(of: []) }
      #expect(none.isEmpty)
      #expect(try await kept(database) == [1, 2])
    }
  }

  @Test(arguments: engines) func theFirstThatFailsKeepsTheRestFromRunning(engine: Engine) async throws {
    try await withDatabase(engine, connections: 1) { database in
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      // With the beginning of a transaction, and within one.
      for begins in [true, false] {
        let failure = await #expect(throws: DatabaseFailure.self) {
          try await database.write { db in
            if !begins { try db.change("insert into a (x) values (2)") }
            _ = try db.rows(of: [
              "insert into a (x) values (3)", "insert into a (x) values (1)", "insert into a (x) values (4)",
            ])
          }
        }
        guard case .unique = failure else { Issue.record("\(String(describing: failure))"); continue }
        #expect(try await kept(database) == [1])
      }
      // The body goes on, which nobody may: nothing is kept.
      await #expect(throws: DatabaseFailure.self) {
        try await database.write { db in
          // `try?`: swallowing it is what this is about.
          _ = try? db.rows(of: ["insert into a (x) values (5)", "insert into a (x, y) values (6, -1)"])
          if engine == .sqlite { throw DatabaseFailure.other("SQLite goes on where PostgreSQL does not") }
        }
      }
      #expect(try await kept(database) == [1])
    }
  }

  @Test(arguments: engines) func whatWaitsIsDoneInItsOrder(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      // Before the next statement, and before the commit where there is none.
      let seen = try await database.write { db in
        try db.later("insert into a (x, y) values (1, 1)")
        try db.later("update a set y = y + 1 where x = 1")
        let seen = try db.row("select y from a where x = 1")?.get("y", as: Int.self)
        try db.later("insert into a (x) values (2)")
        return seen
      }
      #expect(seen == 2)
      try await database.write { db in try db.later("insert into a (x) values (3)") }
      #expect(try await kept(database) == [1, 2, 3])
      // Nothing of it where the body fails.
      await #expect(throws: CancellationError.self) {
        try await database.write { db in
          try db.later("insert into a (x) values (4)")
          throw CancellationError()
        }
      }
      #expect(try await kept(database) == [1, 2, 3])
    }
  }

  @Test(arguments: engines) func whatWaitedAndFailsLeavesNothing(engine: Engine) async throws {
    try await withDatabase(engine, connections: 1) { database in
      try await database.write { db in try db.change("insert into a (x) values (1)") }
      for asksAgain in [true, false] {
        for begins in [true, false] {
          let failure = await #expect(throws: DatabaseFailure.self) {
            try await database.write { db in
              if !begins { try db.change("insert into a (x) values (2)") }
              try db.later("insert into a (x) values (3)")
              try db.later("insert into a (x) values (1)")
              if asksAgain { _ = try db.rows("select 1 as one") }
            }
          }
          guard case .unique = failure else { Issue.record("\(String(describing: failure))"); continue }
          #expect(try await kept(database) == [1])
        }
      }
    }
  }

  /// More statements than a connection keeps prepared, in sets that push each other out.
  @Test(arguments: engines) func thereMayBeMoreStatementsThanAConnectionKeeps(engine: Engine) async throws {
    try await withDatabase(engine, connections: 1) { database in
      for first in stride(from: 0, to: 700, by: 100) {
        let numbers = try await database.readOnce { db in
          let statements = (first..<first + 200).map { number in
            SQL(stringLiteral: "select \(number) as n")
          }
          return try db.rows(of: statements).map { try $0[0].get("n", as: Int.self) }
        }
        #expect(numbers == Array(first..<first + 200))
      }
    }
  }

  @Test(arguments: engines) func aSingleReadSeesOneSnapshot(engine: Engine) async throws {
    try await withDatabase(engine, connections: 4) { database in
      try await database.write { db in try db.change("insert into a (x, y) values (1, 50), (2, 50)") }
      // The two rows always make a hundred, though something is moved between them all the time.
      let writing = Task {
        while !Task.isCancelled {
          let amount = Int.random(in: -50...50)
          // `try?`: not more than there is.
          try? await database.write { db in
            try db.change("update a set y = y + \(amount) where x = 1")
            try db.change("update a set y = y - \(amount) where x = 2")
          }
        }
      }
      let sums = try await atOnce(4) { _ in
        var sums: Set<Int> = []
        for _ in 0..<200 {
          let rows = try await database.readOnce { db in
            try db.rows(of: ["select y from a where x = 1", "select y from a where x = 2"])
          }
          sums.insert(try rows.reduce(0) { $0 + (try $1[0].get("y", as: Int.self)) })
        }
        return sums
      }
      writing.cancel()
      await writing.value
      #expect(sums.allSatisfy { $0 == [100] })
    }
  }
}

/// The same, as only PostgreSQL can fail.
@Suite(.enabled(if: postgresURL != nil)) struct TogetherOnPostgresTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key)")]

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
      let database = try await place.open("test", Self.schema, connections: 1)
      let (entered, holder) = AsyncStream<Void>.makeStream()
      let release = DispatchSemaphore(value: 0)
      async let busy = database.read { _ in
        holder.yield()
        return release.wait(timeout: .now() + 60) == .success
      }
      for await _ in entered { break }
      let served = Served()
      var waiting: [Task<Void, any Error>] = []
      for number in 0..<20 {
        waiting.append(Task { try await database.read { _ in served.note(number) } })
        // Long enough for it to have asked.
        try await Task.sleep(for: .milliseconds(10))
      }
      for number in stride(from: 0, to: 20, by: 3) { waiting[number].cancel() }
      for number in stride(from: 0, to: 20, by: 3) {
        let result = await waiting[number].result
        #expect(throws: CancellationError.self) { try result.get() }
      }
      release.signal()
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
      let database = try await place.open("test", Self.schema, connections: 3)
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

private final class Served: @unchecked Sendable {
  private let lock = NSLock()
  private var noted: [Int] = []

  var numbers: [Int] { lock.withLock { noted } }

  func note(_ number: Int) { lock.withLock { noted.append(number) } }
}
