import Database
import Foundation
import Support
import Testing
import Wire

/// Rows are read when they are needed, which may be after their connection has ended, and on any thread.
@Suite struct RowTests {
  private static let schema = [
    Migration(
      "tables",
      "create table sample (id bigint primary key, text text, bytes bytea, number bigint, flag boolean, at timestamptz)"
    )
  ]
  private static let numbers = [Int.min, -1, 0, 7, Int.max]
  private static let times = [0, 0.001, 0.5, -86_399.999, 4_102_444_800].map(Date.init(timeIntervalSince1970:))
  private static let texts = ["", "a", "Zoë's 🎈 \\ \" \n", String(repeating: "long ", count: 1000), "-7"]
  private static let bytes: [[UInt8]] = [[], [0], [0xFF, 0x5C, 0x78], Array(0...255), [0x30]]

  /// A row of nulls behind one for each of the values above. What the rows return is read after the database is closed.
  private func rows(_ engine: Engine, bound: Int? = nil) async throws -> [Row] {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 2)
      let rows = try await database.write { db in
        for index in Self.numbers.indices {
          try db.change(
            """
            insert into sample (id, text, bytes, number, flag, at)
            values (\(index), \(Self.texts[index]), \(Self.bytes[index]), \(Self.numbers[index]), \(index == 1),
              \(Self.times[index]))
            """)
        }
        try db.change("insert into sample (id) values (\(Self.numbers.count))")
        let all: SQL = "select * from sample order by id"
        return try db.rows(bound.map { all.bounded(toBytes: $0) } ?? all)
      }
      await database.close()
      return rows
    }
  }

  private static func expectValues(_ rows: [Row]) throws {
    #expect(rows.count == numbers.count + 1)
    for (index, row) in rows.enumerated() where index < numbers.count {
      #expect(try row.get("text") == texts[index])
      #expect(try row.get("bytes") == bytes[index])
      #expect(try row.get("number") == numbers[index])
      #expect(try row.get("flag") == (index == 1))
      #expect(try row.get("at") == times[index])
    }
    for name in ["text", "bytes", "number", "flag", "at"] {
      #expect(try rows.last?.optional(name, as: Int.self) == nil)
    }
  }

  @Test(arguments: engines, [nil, 1_000_000]) func rowsOutliveTheirConnection(engine: Engine, bound: Int?) async throws
  {
    let rows = try await rows(engine, bound: bound)
    try Self.expectValues(rows)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<50 { try Self.expectValues(rows) } } }
      try await group.waitForAll()
    }
  }

  /// Tests look in it for what must not be stored.
  @Test(arguments: engines) func aRowIsDescribedByItsValues(engine: Engine) async throws {
    let text = "\(try await rows(engine))"
    for value in [Self.texts[3], "\(Int.min)", "2100-01-01T00:00:00"] { #expect(text.contains(value), "\(value)") }
  }

  /// A borrowed value is the value, and both engines have the same.
  @Test func aBorrowedValueIsTheValue() async throws {
    var all: [[[Value]]] = []
    for engine in engines {
      let rows = try await rows(engine)
      all.append(rows.map(\.values))
      for row in rows {
        #expect(row.columnCount == 6)
        for column in 0..<row.columnCount {
          var calls = 0
          row.withValue(at: column) { borrowed in
            calls += 1
            switch (borrowed, row[column]) {
            case (.null, .null): break
            case (.integer(let one), .integer(let other)): #expect(one == other)
            case (.text(let one), .text(let other)): #expect(String(decoding: one, as: UTF8.self) == other)
            case (.bytes(let one), .bytes(let other)): #expect(Array(one) == other)
            case (_, let other): Issue.record("\(borrowed) is not \(other)")
            }
          }
          #expect(calls == 1)
        }
      }
    }
    let instants = try all.map { try $0.dropLast().map { try #require(Date(column: $0[5])) } }
    #expect(Set(instants).count == 1)
    #expect(Set(all.map { $0.map { $0.dropLast() } }).count == 1)
  }
}
