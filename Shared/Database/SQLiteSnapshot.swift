import Foundation
import GRDB

/// One moment of several SQLite files, which other processes may read and write meanwhile.
package final class SQLiteSnapshot {
  /// A connection to each file, with a read transaction that sees the moment.
  private let readers: [String: DatabaseQueue]

  /// Opens a read transaction on every file while it holds back the writers of all of them. That takes milliseconds:
  /// services wait for a writer for longer than that.
  ///
  /// - Parameters:
  ///   - paths: of files that exist.
  ///   - heldBack: runs at that moment, while nobody writes to the files. Until it returns, writers wait.
  /// - Throws: ``DatabaseFailure/unusable`` with one line that names the file, also when a writer does not finish within
  ///   ten seconds.
  package init(of paths: [String], heldBack: () throws -> Void = {}) throws {
    // In one order, so that two snapshots do not wait for each other.
    let paths = Set(paths).sorted()
    let writers = try paths.map { try Self.begin("begin immediate", on: $0) }
    defer { for writer in writers { Self.close(writer) } }
    var readers: [String: DatabaseQueue] = [:]
    for path in paths {
      let reader = try Self.begin("begin", on: path)
      // The first read of the transaction determines what it sees.
      try Self.naming(path) { try reader.inDatabase { try $0.execute(sql: "select count(*) from sqlite_master") } }
      readers[path] = reader
    }
    try heldBack()
    self.readers = readers
  }

  deinit { for reader in readers.values { Self.close(reader) } }

  /// Copies a file as it was at the moment, and checks the copy.
  ///
  /// - Throws: ``DatabaseFailure/unusable`` when the disk is full, or when the file is damaged.
  package func copy(_ path: String, to destination: String) throws {
    guard let reader = readers[path] else { throw DatabaseFailure.unusable("\(path) is not part of the snapshot") }
    try Self.naming(path) {
      let copy = try DatabaseQueue(path: destination)
      try reader.inDatabase { source in try copy.inDatabase { try source.backup(to: $0) } }
      let finding = try copy.inDatabase { try String.fetchOne($0, sql: "pragma quick_check") }
      guard finding == "ok" else { throw DatabaseFailure.unusable("\(path) is damaged: \(finding ?? "")") }
      try copy.close()
    }
  }

  private static func begin(_ statement: String, on path: String) throws -> DatabaseQueue {
    guard FileManager.default.fileExists(atPath: path) else { throw DatabaseFailure.unusable("\(path) does not exist") }
    return try naming(path) {
      var configuration = Configuration()
      configuration.busyMode = .timeout(10)
      // The transaction stays open until the connection is closed.
      configuration.allowsUnsafeTransactions = true
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.inDatabase { try $0.execute(sql: statement) }
      return queue
    }
  }

  /// `try?`: SQLite rolls back what a process leaves open, so an error here changes nothing.
  private static func close(_ queue: DatabaseQueue) {
    try? queue.inDatabase { try $0.execute(sql: "rollback") }
    try? queue.close()
  }

  private static func naming<T>(_ path: String, _ body: () throws -> T) throws -> T {
    do { return try body() } catch let failure as DatabaseFailure { throw failure } catch {
      throw DatabaseFailure.unusable("\(path): \(SQLiteFailure.message(for: error))")
    }
  }
}
