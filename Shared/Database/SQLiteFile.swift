import GRDB

/// A database file that no process has open.
package enum SQLiteFile {
  /// Changes it in one transaction, which is on the disk when this returns.
  ///
  /// - Throws: ``DatabaseFailure/unusable`` with one line that names the file.
  package static func change(_ path: String, by statement: String) throws {
    do {
      let queue = try DatabaseQueue(path: path)
      try queue.write { try $0.execute(sql: statement) }
      try queue.close()
    } catch {
      throw DatabaseFailure.unusable("\(path): \(SQLiteFailure.message(for: error))")
    }
  }
}
