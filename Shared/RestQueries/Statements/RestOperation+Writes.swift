import Database

/// The rows of a PATCH or DELETE whose service has rules beyond the declaration of the table.
extension RestOperation {
  /// Restricts the change to the rows that the query names and the caller may change, as they are now. The service locks
  /// them and applies its rules to them before the change, which touches no other row: neither one that matches only
  /// since then, nor one that a limit would choose in the place of another.
  ///
  /// - Returns: their ids.
  /// - Throws: ``RestFailure`` when there are more than may be changed at once.
  package mutating func restrict(
    for caller: Caller, on db: any Connection, _ engine: Engine
  ) throws -> [String] {
    guard let rule = request.method == .delete ? table.access.deletes : table.access.updates else {
      throw RestFailure.permissionDenied(table.name)
    }
    let keys = try keys(rule, StatementWriter(engine: engine, caller: caller), on: db, limit: QueryBounds.rowsMax + 1)
    guard keys.count <= QueryBounds.rowsMax else { throw RestFailure.tooManyChanges(max: QueryBounds.rowsMax) }
    restriction = keys
    return keys
  }
}

/// Writes that a service makes itself (``TableWrites``).
extension RestOperation {
  /// Returns the key of the row, nil for one that was in the way and is left alone.
  func insertEach(
    _ row: NewRow, _ insert: TableWrites.Insert, _ conflict: Conflict, _ writer: StatementWriter,
    on db: any Connection
  ) throws -> String? {
    switch conflict {
    case .fail: break
    case .ignore(let columns):
      if try self.row(like: row, in: columns, on: db) != nil { return nil }
    case .merge(let columns, let condition):
      guard let found = try self.row(like: row, in: columns, mayBeChanged: condition, on: db) else { break }
      guard found.mayBeChanged, let update = table.writes.update else {
        throw RestFailure.duplicate("\(table.name)_pkey")
      }
      try update([found.key], row.changes, writer.caller, db)
      return found.key
    }
    try insert(row.values, writer.caller, db)
    return row.key
  }

  /// The row that has the same values in those columns.
  private func row(
    like new: NewRow, in columns: [Column], mayBeChanged condition: SQL = "false", on db: any Connection
  ) throws -> (key: String, mayBeChanged: Bool)? {
    let name = resource.row.name
    let equal = SQL.joined(
      columns.map { "\(resource.row[$0.stored]) = \(new.values[$0.name] ?? .null)" }, by: " and ")
    let found = try db.row(
      ("""
      select \(name).\(table.storedKey) as key, case when \(condition) then 1 else 0 end as may_be_changed
      from \(table.source) \(name) where \(equal)
      """ as SQL).composedForRequest)
    return try found.map { (try $0.get("key"), try $0.get("may_be_changed", as: Int.self) == 1) }
  }

  /// The keys of the rows that a PATCH or DELETE is about.
  func keys(
    _ rule: RowExpression, _ writer: StatementWriter, on db: any Connection, limit: Int? = nil
  ) throws -> [String] {
    let bound: SQL = limit.map { max -> SQL in " limit \(max)" } ?? ""
    return try changedKeys(
      db,
      """
      select \(resource.row.name).\(table.storedKey) from \(table.source) \(resource.row.name)
      where \(try target(rule, writer))\(bound)
      """)
  }
}
