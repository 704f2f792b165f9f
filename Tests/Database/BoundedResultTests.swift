import Database
import Foundation
import Support
import Testing

/// Statements whose rows may have so many bytes and no more.
@Suite struct BoundedResultTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key, y text, z bytea)")]
  private static let statement: SQL = "select x, y, z from a order by x"
  /// Of ten rows: a number, a text of a thousand bytes, and three bytes in every other row.
  private static let bytes = 10 * 1008 + 5 * 3

  /// With one connection, on which what comes after a failure runs as well.
  private func withRows(_ engine: Engine, _ body: (any Database) async throws -> Void) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      try await database.write { db in
        for x in 1...10 {
          let z: [UInt8]? = x.isMultiple(of: 2) ? [0, 1, 255] : nil
          try db.change("insert into a (x, y, z) values (\(x), \(String(repeating: "é", count: 500)), \(z))")
        }
      }
      try await body(database)
      await database.close()
    }
  }

  private func values(_ rows: [Row]) -> [[Value]] { rows.map(\.values) }

  @Test(arguments: engines) func rowsUpToTheBoundAreRead(engine: Engine) async throws {
    try await withRows(engine) { database in
      let all = try await database.read { try $0.rows(Self.statement) }
      #expect(all.count == 10 && all.map(\.byteCount).reduce(0, +) == Self.bytes)
      #expect(try all[1].get("z", as: [UInt8].self) == [0, 1, 255])
      let bounded = Self.statement.bounded(toBytes: Self.bytes)
      let once = try await database.readOnce { try $0.rows(bounded) }
      let within = try await database.read { try $0.rows(bounded) }
      let shared = try await database.rows(of: [bounded])
      #expect(values(once) == values(all) && values(within) == values(all) && shared.map(values) == [values(all)])
      let several = try await database.write { db in
        try db.rows(of: [bounded, "select 1 as one", bounded, "select x from a where x = 0", bounded])
      }
      #expect(several.map(\.count) == [10, 1, 10, 0, 10])
      #expect(try several[4][9].get("x", as: Int.self) == 10)
      let none = ("select x from a where x = 0" as SQL).bounded(toBytes: 0)
      let empty = try await database.readOnce { try $0.rows(none) }
      #expect(empty.isEmpty)
    }
  }

  @Test(arguments: engines) func moreThanTheBoundIsAFailureAndChangesNothing(engine: Engine) async throws {
    try await withRows(engine) { database in
      let short = Self.statement.bounded(toBytes: Self.bytes - 1)
      let failure = DatabaseFailure.resultTooLarge(bytesMax: Self.bytes - 1)
      let batches: [[SQL]] = [[short], [short, "select 1 as one"], ["select 1 as one", short]]
      for statements in batches {
        await #expect(throws: failure) { try await database.readOnce { try $0.rows(of: statements) } }
        await #expect(throws: failure) { try await database.read { try $0.rows(of: statements) } }
        await #expect(throws: failure) { try await database.rows(of: statements) }
        await #expect(throws: failure) {
          try await database.write { db in
            try db.change("delete from a where x > 1")
            try db.change("update a set y = y || y || y || y || y || y || y || y || y || y || y")
            _ = try db.rows(of: statements)
          }
        }
        let rows = try await database.readOnce { try $0.rows(Self.statement.bounded(toBytes: Self.bytes)) }
        #expect(rows.count == 10)
      }
    }
  }

  @Test(.enabled(if: engines.contains(.postgres))) func aFailureAmongTheRowsIsThatOfTheStatement() async throws {
    try await withRows(.postgres) { database in
      let failing = ("select 1 / (5 - x) as y from a order by x" as SQL).bounded(toBytes: 1000)
      let batches: [[SQL]] = [[failing], [failing, "select 1 as one"]]
      for statements in batches {
        await #expect(throws: DatabaseFailure.other("22012: division by zero")) {
          try await database.readOnce { try $0.rows(of: statements) }
        }
        let one = try await database.readOnce { try $0.rows(of: ["select 1 as one", "select 2 as two"]) }
        #expect(one.count == 2)
      }
    }
  }
}
