import Foundation
import Support
import Testing

@testable import Database

private struct Stop: Error {}

/// Writes of concurrent callers share a commit on SQLite, and nobody notices but by the time it takes.
@Suite struct GroupCommitTests {
  private static let schema = [
    Migration(
      "tables",
      """
      create table entry (
        id integer primary key, name text not null, content blob, constraint entry_name_short check (length(name) < 20)
      );
      create unique index entry_name on entry (name)
      """)
  ]

  private func withSQLite(_ body: (SQLite, String) async throws -> Void) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let path = testDatabase.folder.appendingPathComponent("test.db").path
      let database = try SQLite(path: path, service: "test")
      try await database.migrate(Self.schema)
      try await database.truncateWriteAheadLog()
      try await body(database, path)
      await database.close()
    }
  }

  /// The number of transactions in the write-ahead log since it was truncated: the last frame of each has the size of
  /// the database in its header (https://www.sqlite.org/fileformat2.html#wal_file_format).
  private func commitCount(_ path: String) throws -> Int {
    let log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
    func number(at offset: Int) -> Int { log[offset..<offset + 4].reduce(0) { $0 << 8 + Int($1) } }
    guard log.count > 32 else { return 0 }
    return stride(from: 32, to: log.count, by: 24 + number(at: 8)).count { number(at: $0 + 4) > 0 }
  }

  @Test func waitingWritesShareACommitInTheOrderOfTheirArrival() async throws {
    try await withSQLite { database, path in
      let expected = (0..<20).map { "entry \($0)" }
      let results = try await database.together(expected.map { name in { try await database.add(name) } })
      #expect(results.allSatisfy { if case .success = $0 { true } else { false } })
      #expect(try await database.names() == expected)
      #expect(try commitCount(path) < expected.count)
      // One that comes alone has a commit of its own.
      let before = try commitCount(path)
      try await database.add("alone")
      #expect(try commitCount(path) == before + 1)
    }
  }

  @Test func aBatchIsBounded() async throws {
    try await withSQLite { database, path in
      _ = try await database.together((0..<150).map { index in { try await database.add("entry \(index)") } })
      #expect(try await database.names().count == 150)
      #expect(try commitCount(path) >= 3)
      let before = try commitCount(path)
      let slow = (0..<4).map { index in
        { @Sendable in
          _ = try await database.write { db in
            Thread.sleep(forTimeInterval: 0.006)
            try db.change("insert into entry (name) values (\("slow \(index)"))")
          }
        }
      }
      _ = try await database.together(slow)
      #expect(try commitCount(path) == before + 4)
    }
  }

  @Test func nobodyIsAnsweredBeforeTheCommit() async throws {
    try await withSQLite { database, path in
      // Another connection sees only what is committed.
      let other = try SQLite(path: path, service: "test")
      let seen = try await atOnce(100) { index in
        try await database.add("entry \(index)")
        return try await other.read { try $0.row("select 1 from entry where name = \("entry \(index)")") != nil }
      }
      #expect(seen.allSatisfy { $0 })
      await other.close()
    }
  }

  @Test func aBodyThatThrowsUndoesItsOwnChangesOnly() async throws {
    try await withSQLite { database, _ in
      let results = try await database.together(
        [
          { try await database.add("first") },
          {
            try await database.write { db in
              try db.change("insert into entry (name) values ('undone')")
              throw Stop()
            }
          },
          {
            _ = try await database.write { db in
              try db.change("insert into entry (name) values ('undone, too')")
              try db.change("insert into entry (name) values ('first')")
            }
          },
          { try await database.add("a name that is far too long") },
          { try await database.add("last") },
        ])
      #expect(throws: Never.self) { try results[0].get() }
      #expect(throws: Stop.self) { try results[1].get() }
      #expect(throws: DatabaseFailure.unique("entry_name")) { try results[2].get() }
      #expect(throws: DatabaseFailure.check("entry_name_short")) { try results[3].get() }
      #expect(throws: Never.self) { try results[4].get() }
      #expect(try await database.names() == ["first", "last"])
    }
  }

  @Test func aViolationThatTheBodyHandlesKeepsItsOtherChanges() async throws {
    try await withSQLite { database, _ in
      let results = try await database.together(
        [
          { try await database.add("first") },
          {
            _ = try await database.write { db in
              try db.change("insert into entry (name) values ('second')")
              #expect(throws: DatabaseFailure.unique("entry_name")) {
                try db.change("insert into entry (name) values ('first')")
              }
            }
          },
        ])
      for result in results { #expect(throws: Never.self) { try result.get() } }
      #expect(try await database.names() == ["first", "second"])
    }
  }

  /// Writes one page more than the file may have.
  private static func fill(_ db: any Connection) throws {
    try db.change("insert into entry (name, content) values ('large', \([UInt8](repeating: 1, count: 1 << 20)))")
  }

  @Test(arguments: [false, true]) func aFullFileFailsOnlyWhoeverFillsIt(isCaught: Bool) async throws {
    try await withSQLite { database, _ in
      _ = try await database.write { try $0.rows("pragma max_page_count = 60") }
      let results = try await database.together(
        [
          { try await database.add("first") },
          { try await database.add("second") },
          {
            _ = try await database.write { db in
              guard isCaught else { return try Self.fill(db) }
              // Without the transaction that SQLite has rolled back, this would be a commit of its own.
              do { try Self.fill(db) } catch { _ = try? db.change("insert into entry (name) values ('outside')") }
            }
          },
          { try await database.add("third") },
          { _ = try await database.write { db in try Self.fill(db) } },
          { try await database.add("fourth") },
        ])
      for index in [0, 1, 3, 5] { #expect(throws: Never.self) { try results[index].get() } }
      for index in [2, 4] { #expect(throws: DatabaseFailure.self) { try results[index].get() } }
      if !isCaught { #expect(results[2].databaseFailure?.isTransient == true) }
      #expect(try await database.names() == ["first", "second", "third", "fourth"])
    }
  }

  @Test func aCommitThatFailsFailsTheWholeBatch() async throws {
    try await withSQLite { database, _ in
      // Violated by the commit, as a full disk is found by it.
      try await database.write { db in
        try db.change("create table child (entry_id integer references entry (id) deferrable initially deferred)")
      }
      let writes: [SQLite.Write] = [
        { try await database.add("first") },
        { _ = try await database.write { try $0.change("insert into child (entry_id) values (404)") } },
        // Its error depends on what is not committed.
        { try await database.add("first") },
      ]
      var results = try await database.together(writes)
      // A busy machine may have run them in more than one batch.
      for _ in 0..<50 where results[0].databaseFailure == nil {
        _ = try await database.write { try $0.change("delete from entry") }
        results = try await database.together(writes)
      }
      for result in results { #expect(result.databaseFailure == .foreignKey) }
      #expect(try await database.names().isEmpty)
      try await database.add("next")
      #expect(try await database.names() == ["next"])
    }
  }

  @Test func anotherProcessThatHoldsTheLockFailsThoseWhoHaveWaited() async throws {
    try await withSQLite { database, path in
      let other = try SQLite(path: path, service: "test")
      let holder = await other.heldWriter()
      let results = try await atOnce(3) { index in
        await Task { try await database.add("entry \(index)") }.result
      }
      for result in results { #expect(result.databaseFailure == .contended) }
      holder.release()
      try await database.add("next")
      #expect(try await database.names() == ["next"])
      await other.close()
    }
  }

  @Test func aCancelledWriteIsNotRun() async throws {
    try await withSQLite { database, _ in
      let expected = ["first", "cancelled", "last"]
      let (writer, tasks) = try await database.waiting(expected.map { name in { try await database.add(name) } })
      tasks[1].cancel()
      await #expect(throws: CancellationError.self) { try await tasks[1].value }
      writer.release()
      try await tasks[0].value
      try await tasks[2].value
      #expect(try await database.names() == ["first", "last"])
      // Those that were cancelled before they could wait: not even one that a free writer would run at once.
      try await atOnce(4) { _ in
        for _ in 0..<500 {
          let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await database.add("early")
          }
          await #expect(throws: CancellationError.self) { try await early.value }
        }
      }
      #expect(try await database.names() == ["first", "last"])
    }
  }

  @Test func aCancelledWriteThatRunsIsCompleted() async throws {
    try await withSQLite { database, _ in
      let held = HeldConnection()
      let running = Task {
        try await database.write { db in
          try db.change("insert into entry (name) values ('running')")
          return held.wait()
        }
      }
      await held.waitUntilHeld()
      running.cancel()
      held.release()
      let isReleased = try await running.value
      #expect(isReleased)
      #expect(try await database.names() == ["running"])
    }
  }

  @Test func checkpointsAndTheEndComeAfterTheWritesBeforeThem() async throws {
    try await withSQLite { database, path in
      let expected = (0..<100).map { "entry \($0)" }
      let (writer, tasks) = try await database.waiting(expected.map { name in { try await database.add(name) } })
      let checkpoint = Task { try await database.truncateWriteAheadLog() }
      let end = Task { await database.close() }
      writer.release()
      // It fails if its task began after the end.
      _ = await checkpoint.result
      await end.value
      for task in tasks { try await task.value }
      await #expect(throws: DatabaseFailure.self) { try await database.add("late") }
      await #expect(throws: DatabaseFailure.unavailable("the database is closed")) {
        try await database.truncateWriteAheadLog()
      }
      let reopened = try SQLite(path: path, service: "test")
      #expect(try await reopened.names() == expected)
      await reopened.close()
    }
  }
}
