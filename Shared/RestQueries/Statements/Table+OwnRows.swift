import Database
import Wire

/// The bound of how many rows a caller owns.
extension Table {
  /// Has the transactions that add to the caller's rows wait for each other until they end. On PostgreSQL they would run
  /// at the same time, and none would count the rows of the others. The lock is sent with the next statement.
  package func lockOwnRows(of caller: Caller, on db: any Connection, _ engine: Engine) throws {
    guard rowsPerOwnerMax != nil, engine == .postgres else { return }
    let lock = "\(name) of \(caller.id)"
    try db.enqueue("select pg_advisory_xact_lock(hashtextextended(\(lock), 0))")
  }

  /// After an insert, under the lock.
  ///
  /// - Throws: ``RestFailure`` 54000, after which the transaction must not be committed.
  package func requireFewOwnRows(of caller: Caller, on db: any Connection) throws {
    if let count = ownRowCount(of: caller) { try requireFewOwnRows(db.row(count)) }
  }

  /// nil where there is no bound.
  func ownRowCount(of caller: Caller) -> SQL? {
    guard rowsPerOwnerMax != nil, let owner else { return nil }
    let row = RowName(alias: "t0")
    return "select count(*) as total from \(source) \(row.name) where \(row[owner.stored]) = \(caller.id)"
  }

  /// - Throws: ``RestFailure`` 54000, after which the transaction must not be committed.
  func requireFewOwnRows(_ counted: Row?) throws {
    guard let max = rowsPerOwnerMax, try counted?.get("total", as: Int.self) ?? 0 > max else { return }
    throw RestFailure.tooManyOwnRows(of: name, max: max)
  }
}
