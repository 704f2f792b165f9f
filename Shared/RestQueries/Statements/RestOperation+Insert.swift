import Database

extension RestOperation {
  /// POST, and PUT of the one row of a key.
  func insert(
    _ writer: StatementWriter, on db: any Connection, _ whenInserted: (() throws -> Void)?
  ) throws -> RestAnswer {
    guard let rule = table.access.inserts else { throw RestFailure.permissionDenied(table.name) }
    let rows = try (body?.rows ?? []).map {
      try NewRow($0, columns: body?.columns ?? [], operation: self, writer.caller)
    }
    let conflict = try conflict(writer)
    if !rows.isEmpty { try table.lockOwnRows(of: writer.caller, on: db, writer.engine) }
    if case .fail = conflict, table.writes.insert == nil, whenInserted == nil {
      return try insertTogether(rows, rule, writer, on: db)
    }
    let present = try keysPresent(among: rows, conflict, writer, on: db)
    let keys: [String]
    if let insert = table.writes.insert {
      keys = try rows.compactMap { try insertEach($0, insert, conflict, writer, on: db) }
    } else {
      let returned = try db.rows(of: rows.map { $0.insertion(conflict).composedForRequest })
      keys = returned.compactMap { $0.first?[0].text }
    }
    // A row in the way that the caller may not change: as if the id of the new one were taken.
    if case .merge = conflict, keys.count < rows.count { throw RestFailure.duplicate("\(table.name)_pkey") }
    try require(rule, of: keys, writer, on: db)
    if !keys.isEmpty { try table.requireFewOwnRows(of: writer.caller, on: db) }
    try whenInserted?()
    let newKeys = present.map { present in
      zip(rows, keys).compactMap { $0.key == $1 && !present.contains($1) ? $1 : nil }
    }
    let status = newKeys?.isEmpty ?? false ? 200 : 201
    var answer =
      request.method == .put
      ? try written(status, silently: 204, keys, range: "*/*", writer, on: db)
      : try inserted(keys, status: status, shownPage(of: keys, writer, on: db))
    answer.insertedKeys = Set(newKeys ?? keys)
    return answer
  }

  /// New rows have keys that are known before: all statements are sent at once.
  private func insertTogether(
    _ rows: [NewRow], _ rule: RowExpression, _ writer: StatementWriter, on db: any Connection
  ) throws -> RestAnswer {
    let keys = rows.compactMap(\.key)
    guard !keys.isEmpty else { return try inserted([], status: 201, shownPage(of: [], writer, on: db)) }
    let insertions = rows.map { $0.insertion(.fail).composedForRequest }
    let isShown = preferences.returns == .representation
    let reading = isShown ? [try shownRows(of: keys, writer)] : []
    let counting = table.ownRowCount(of: writer.caller).map { [$0] } ?? []
    let results = try db.rows(of: insertions + [fulfilment(of: rule, keys, writer)] + counting + reading)
    try requireFulfilled(results[insertions.count].first, keys)
    if !counting.isEmpty { try table.requireFewOwnRows(results[insertions.count + 1].first) }
    return try inserted(keys, status: 201, isShown ? try page(of: keys, results.last ?? []) : nil)
  }

  private func inserted(_ keys: [String], status: Int, _ page: RowPage?) throws -> RestAnswer {
    try requireSingle(page?.rows.count ?? keys.count)
    let isLocated = page == nil && keys.count == 1
    var answer = try answer(
      status, rows: page,
      range: Self.contentRange(first: 0, count: 0, total: preferences.count == nil ? nil : keys.count),
      location: isLocated ? "/\(table.name)?\(table.key)=eq.\(keys[0])" : nil, keys: keys)
    answer.insertedKeys = Set(keys)
    return answer
  }

  /// Those keys of the new rows that rows have already; nil unless such rows are changed. Whatever has another key after
  /// the statement, or one of these, was not inserted.
  private func keysPresent(
    among rows: [NewRow], _ conflict: Conflict, _ writer: StatementWriter, on db: any Connection
  ) throws -> Set<String>? {
    guard case .merge = conflict else { return nil }
    let row = resource.row
    let found = try db.rows(
      """
      select \(row.name).\(table.storedKey) as key from \(table.source) \(row.name)
      where \(writer.isKey(of: row, table, in: rows.compactMap(\.key)))
      """)
    return Set(try found.map { try $0.get("key") })
  }

  /// What happens to a row that is there already.
  enum Conflict {
    case fail
    case ignore(columns: [Column])
    /// Changes the row if the caller may.
    case merge(columns: [Column], condition: SQL)
  }

  private func conflict(_ writer: StatementWriter) throws -> Conflict {
    guard let resolution = request.method == .put ? .mergeDuplicates : preferences.resolution else { return .fail }
    let names = request.method == .put ? [table.key] : query.conflictColumns ?? [table.key]
    let known = table.uniqueColumns + [[table.key]]
    guard known.contains(where: { Set($0) == Set(names) }) else { throw RestFailure.noConflictTarget() }
    let columns = names.compactMap(table.column)
    guard resolution == .mergeDuplicates else { return .ignore(columns: columns) }
    guard let rule = table.access.updates else { throw RestFailure.permissionDenied(table.name) }
    let row = resource.row
    let sees = table.access.sees(row, writer.caller)
    return .merge(columns: columns, condition: "(\(sees)) and (\(rule(row, writer.caller)))")
  }

  /// - Throws: ``RestFailure`` 42501 when a row does not fulfil the rule.
  func require(_ rule: RowExpression, of keys: [String], _ writer: StatementWriter, on db: any Connection) throws {
    guard !keys.isEmpty else { return }
    try requireFulfilled(db.row(fulfilment(of: rule, keys, writer)), keys)
  }

  /// Counts the rows that fulfil the rule.
  private func fulfilment(of rule: RowExpression, _ keys: [String], _ writer: StatementWriter) -> SQL {
    let row = resource.row
    return """
      select count(*) as total from \(table.source) \(row.name)
      where \(writer.isKey(of: row, table, in: keys)) and (\(rule(row, writer.caller)))
      """
  }

  private func requireFulfilled(_ counted: Row?, _ keys: [String]) throws {
    guard try counted?.get("total", as: Int.self) == Set(keys).count else {
      throw RestFailure.newRowDenied(table.name)
    }
  }

  /// The answer to a write: the rows as the caller sees them now, if they were asked for.
  ///
  /// - Parameter silentStatus: without the rows.
  func written(
    _ status: Int, silently silentStatus: Int, _ keys: [String], range: String, _ writer: StatementWriter,
    on db: any Connection
  ) throws -> RestAnswer {
    let page = try shownPage(of: keys, writer, on: db)
    try requireSingle(page?.rows.count ?? keys.count)
    return try answer(page == nil ? silentStatus : status, rows: page, range: range, keys: keys)
  }

  /// nil where the rows were not asked for.
  private func shownPage(of keys: [String], _ writer: StatementWriter, on db: any Connection) throws -> RowPage? {
    preferences.returns == .representation ? try representation(of: keys, writer, on: db) : nil
  }
}

/// The rows that a write answers with.
extension RestOperation {
  /// In the order that was asked for, else in that of the body.
  func representation(of keys: [String], _ writer: StatementWriter, on db: any Connection) throws -> RowPage {
    try page(of: keys, keys.isEmpty ? [] : try db.rows(shownRows(of: keys, writer)))
  }

  private var shown: Resource {
    var shown = resource
    shown.conditions = []
    shown.limit = nil
    shown.offset = 0
    return shown
  }

  private func shownRows(of keys: [String], _ writer: StatementWriter) throws -> SQL {
    try writer.select(shown, ofKeys: keys).forAnswer
  }

  private func page(of keys: [String], _ rows: [Row]) throws -> RowPage {
    try shown.requireBounded(rows)
    guard resource.orders.isEmpty, !resource.isCount else {
      return RowPage(resource: shown, rows: rows, columnsBefore: resource.isCount ? 0 : 1)
    }
    let places = Dictionary(keys.enumerated().map { ($1, $0) }) { first, _ in first }
    let sorted = rows.map { (place: $0[0].text.flatMap { places[$0] } ?? 0, row: $0) }.sorted { $0.place < $1.place }
    return RowPage(resource: shown, rows: sorted.map(\.row), columnsBefore: 1)
  }
}
