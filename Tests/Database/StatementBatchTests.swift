import Database
import Foundation
import Support
import Testing

/// Statements that are sent in one round trip, and statements that are enqueued for the next round trip.
@Suite struct StatementBatchTests {
  private static let schema = [
    Migration("tables", "create table a (x bigint primary key, y bigint not null default 0 check (y >= 0))")
  ]

  private func withDatabase(
    _ engine: Engine, connections: Int = 2, _ body: (any Database) async throws -> Void
  ) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: connections)
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
      // As the first statements of a transaction, and within one.
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
      // The body goes on after a failure, which is a mistake: nothing is committed.
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
      // Before the next statement, or before the commit when there is no next statement.
      let seen = try await database.write { db in
        try db.enqueue("insert into a (x, y) values (1, 1)")
        try db.enqueue("update a set y = y + 1 where x = 1")
        let seen = try db.row("select y from a where x = 1")?.get("y", as: Int.self)
        try db.enqueue("insert into a (x) values (2)")
        return seen
      }
      #expect(seen == 2)
      try await database.write { db in try db.enqueue("insert into a (x) values (3)") }
      #expect(try await kept(database) == [1, 2, 3])
      // Enqueued statements are dropped when the body fails.
      await #expect(throws: CancellationError.self) {
        try await database.write { db in
          try db.enqueue("insert into a (x) values (4)")
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
              try db.enqueue("insert into a (x) values (3)")
              try db.enqueue("insert into a (x) values (1)")
              if asksAgain { _ = try db.rows("select 1 as one") }
            }
          }
          guard case .unique = failure else { Issue.record("\(String(describing: failure))"); continue }
          #expect(try await kept(database) == [1])
        }
      }
    }
  }

  /// More statements than a connection keeps prepared, in batches that deallocate each other's.
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
      // The sum of the two rows is always 100, while another task moves amounts between them.
      let writing = Task {
        while !Task.isCancelled {
          let amount = Int.random(in: -50...50)
          // `try?`: a balance below zero is refused.
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
