import Database
import Foundation
import Support
import Testing

/// Truncating SQLite's write-ahead log, while another program reads the database.
@Suite struct TruncationTests {
  @Test func aReaderDelaysTheTruncationAndNoWrite() async throws {
    try await whileRead { database, reader, path in
      let isTruncated = Flag()
      let truncation = Task {
        try await database.truncateWriteAheadLog()
        isTruncated.raise()
      }
      try await Task.sleep(for: .milliseconds(300))
      // A write that waits for the reader waits for five seconds.
      let isWritten = try await isDone(within: .seconds(3)) {
        _ = try await database.write { try $0.change("insert into entry (name) values ('kept')") }
      }
      #expect(isWritten && !isTruncated.isRaised)
      reader.release()
      try await truncation.value
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).isEmpty)
    }
  }

  @Test func aReaderThatStaysIsSaid() async throws {
    try await whileRead { database, reader, _ in
      await #expect(throws: DatabaseFailure.contended) { try await database.truncateWriteAheadLog() }
      reader.release()
    }
  }

  /// - Parameter body: called while another connection reads what was there before an entry was deleted; releases it.
  private func whileRead(_ body: (SQLite, HeldConnection, _ path: String) async throws -> Void) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let path = testDatabase.folder.appendingPathComponent("test.db").path
      let (database, other) = (try SQLite(path: path, service: "test"), try SQLite(path: path, service: "test"))
      try await database.migrate([Migration("entries", "create table entry (name text);")])
      try await database.write { try $0.change("insert into entry (name) values ('erased')") }
      let held = HeldConnection()
      let reading = Task {
        try await other.read { db in
          _ = try db.rows("select name from entry")
          return held.wait()
        }
      }
      await held.waitUntilHeld()
      try await database.write { try $0.change("delete from entry") }
      try await body(database, held, path)
      let isReleased = try await reading.value
      #expect(isReleased)
      await other.close()
      await database.close()
    }
  }
}
