import Database
import Foundation
import Postgres
import Support
import Synchronization
import Testing

/// A statement that takes too long is ended by the engine, and harms nobody else.
@Suite struct StatementTimeoutTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key)")]

  private static func endless(_ engine: Engine) -> SQL {
    engine == .sqlite
      ? "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) as count from n"
      : "select pg_sleep(600)"
  }

  /// A function that takes twenty milliseconds at least, and how often it was called.
  private final class Nap: Sendable {
    let callCount = Mutex(0)

    var function: SQLiteFunction {
      SQLiteFunction("nap", argumentCount: 1) { [self] _ in
        callCount.withLock { $0 += 1 }
        Thread.sleep(forTimeInterval: 0.02)
        return .number(1)
      }
    }
  }

  /// Its statements may take two seconds, which those that are not endless never do.
  private func withDatabase(
    _ engine: Engine, _ functions: [SQLiteFunction] = [], timeoutMilliseconds: Int = 2000,
    _ body: (any Database) async throws -> Void
  ) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database: any Database =
        engine == .sqlite
        ? try SQLite(
          path: testDatabase.folder.appending(path: "test.db").path, service: "test", functions: functions,
          statementTimeout: .milliseconds(timeoutMilliseconds))
        : try Postgres(
          url: testDatabase.databaseURL, schema: "test", connections: 4,
          statementTimeoutMilliseconds: timeoutMilliseconds, logger: quiet)
      try await database.migrate(Self.schema)
      try await body(database)
      await database.close()
    }
  }

  /// - Throws: what is not a failure of the database.
  private func failure(_ body: () async throws -> Void) async throws -> DatabaseFailure? {
    do {
      try await body()
      return nil
    } catch let failure as DatabaseFailure { return failure }
  }

  private func count(_ database: any Database) async throws -> Int? {
    try await database.read { try $0.row("select count(*) as count from a")?.get("count") }
  }

  @Test(arguments: engines) func aReadEndsAndItsConnectionIsUsedAgain(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      // More than there are connections.
      for _ in 0..<5 {
        let failure = try await failure { _ = try await database.readOnce { try $0.rows(Self.endless(engine)) } }
        #expect(failure?.isTransient == true, "\(String(describing: failure))")
        #expect(try await count(database) == 0)
      }
    }
  }

  @Test(arguments: engines) func othersReadAndWriteMeanwhile(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      async let ended = failure { _ = try await database.read { try $0.rows(Self.endless(engine)) } }
      for x in 1...10 {
        try await database.write { try $0.change("insert into a (x) values (\(x))") }
        #expect(try await count(database) == x)
      }
      let failure = try await ended
      #expect(failure?.isTransient == true)
    }
  }

  @Test(arguments: engines) func aWriteEndsWithNothingOfItAndOthersOfItsBatchAreKept(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let failures = try await atOnce(9) { number in
        try await failure {
          try await database.write { db in
            try db.change("insert into a (x) values (\(number))")
            guard number == 4 else { return }
            // One that reads, and ends by itself in the transaction; then the row is not there either.
            _ = try db.rows(Self.endless(engine))
          }
        }
      }
      #expect(failures.compactMap { $0?.isTransient } == [true], "\(failures)")
      #expect(try await count(database) == 8)
    }
  }

  /// Ends the whole transaction on SQLite, which the other writes of the batch survive.
  @Test(arguments: engines) func aChangeThatTakesTooLongIsUndone(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let endless: SQL =
        engine == .sqlite
        ? """
        insert into a (x) with recursive n (i) as (select 100 union all select i + 1 from n)
        select i from n where i < 0
        """
        : "insert into a (x) select 100 from pg_sleep(600)"
      let failures = try await atOnce(9) { number in
        try await failure {
          _ = try await database.write { db in
            try db.change(number == 4 ? endless : "insert into a (x) values (\(number))")
          }
        }
      }
      #expect(failures.compactMap { $0?.isTransient } == [true], "\(failures)")
      #expect(try await count(database) == 8)
    }
  }

  /// SQLite itself asks every thousand instructions, which are more than sixty calls.
  @Test func functionsAreNotCalledAfterTheEnd() async throws {
    let nap = Nap()
    try await withDatabase(.sqlite, [nap.function], timeoutMilliseconds: 500) { database in
      let failure = try await failure {
        _ = try await database.read { db in
          try db.rows(
            "with recursive n (i) as (select 1 union all select i + 1 from n) select max(nap(i)) as nap from n")
        }
      }
      #expect(failure?.isTransient == true)
      #expect((1...26).contains(nap.callCount.withLock { $0 }))
      // The next statement has its own time.
      #expect(try await database.read { try $0.row("select nap(1) as nap")?.get("nap", as: Int.self) } == 1)
    }
  }
}
