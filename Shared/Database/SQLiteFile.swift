import GRDB

/// A database file that no process has open.
package enum SQLiteFile {
  /// Changes it in one transaction, which is on the disk when this returns, if it has the table.
  ///
  /// - Throws: ``DatabaseFailure/unusable`` with one line that names the file.
  package static func change(_ path: String, ifThereIs table: String, by statement: String) throws {
    do {
      let queue = try DatabaseQueue(path: path)
      try queue.write { db in
        if try db.tableExists(table) { try db.execute(sql: statement) }
      }
      try queue.close()
    } catch {
      throw DatabaseFailure.unusable("\(path): \(SQLiteFailure.message(for: error))")
    }
  }
}
