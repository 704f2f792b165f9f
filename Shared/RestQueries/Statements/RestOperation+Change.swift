import Database
import Wire

/// Updates and deletions. They touch only rows that the caller sees and may change.
extension RestOperation {
  func update(_ writer: StatementWriter, on db: any Connection) throws -> RestAnswer {
    guard let rule = table.access.updates else { throw RestFailure.permissionDenied(table.name) }
    let changes = try RowChanges(self, writer.caller)
    guard !changes.isEmpty else { return try written(200, silently: 204, [], range: "*/*", writer, on: db) }
    let keys = try updatedKeys(changes, rule, writer, on: db)
    if let key = changes.key, keys.contains(where: { $0 != key }) {
      throw RestFailure.columnDenied(table.key, of: table.name)
    }
    if let update = table.writes.update { try update(keys, changes.values, writer.caller, db) }
    try require(table.access.sees, of: keys, writer, on: db)
    let total = preferences.count == nil ? nil : keys.count
    return try written(
      200, silently: 204, keys, range: Self.contentRange(first: 0, count: keys.count, total: total), writer, on: db)
  }

  /// The keys of the rows that are changed, or that the service is to change.
  private func updatedKeys(
    _ changes: RowChanges, _ rule: RowExpression, _ writer: StatementWriter, on db: any Connection
  ) throws -> [String] {
    guard table.writes.update == nil else { return try keys(rule, writer, on: db) }
    return try changedKeys(
      db,
      """
      update \(table.source) as \(resource.row.name) set \(changes.assignments) \
      where \(try target(rule, writer)) returning \(table.storedKey)
      """)
  }

  func delete(_ writer: StatementWriter, on db: any Connection) throws -> RestAnswer {
    guard let rule = table.access.deletes else { throw RestFailure.permissionDenied(table.name) }
    if let delete = table.writes.delete {
      let keys = try keys(rule, writer, on: db)
      let page = preferences.returns == .representation ? try representation(of: keys, writer, on: db) : nil
      try requireSingle(page?.rows.count ?? keys.count)
      if !keys.isEmpty { try delete(keys, writer.caller, db) }
      return try answer(page == nil ? 204 : 200, rows: page, range: deletedRange(keys), keys: keys)
    }
    let name = resource.row.name
    let target = try target(rule, writer)
    guard preferences.returns == .representation else {
      let keys = try changedKeys(
        db, "delete from \(table.source) as \(name) where \(target) returning \(table.storedKey)")
      try requireSingle(keys.count)
      return try answer(204, rows: nil, range: deletedRange(keys), keys: keys)
    }
    // The rows are locked, then read with what they embed, then deleted.
    let key = table.storedKey
    let keys = try changedKeys(
      db, "update \(table.source) as \(name) set \(key) = \(key) where \(target) returning \(key)")
    let page = try representation(of: keys, writer, on: db)
    try requireSingle(page.rows.count)
    if !keys.isEmpty {
      try db.change("delete from \(table.source) as \(name) where \(writer.isKey(of: resource.row, table, in: keys))")
    }
    return try answer(200, rows: page, range: deletedRange(keys), keys: keys)
  }

  private func deletedRange(_ keys: [String]) -> String {
    Self.contentRange(first: 0, count: 0, total: preferences.count == nil ? nil : keys.count)
  }

  func changedKeys(_ db: any Connection, _ statement: SQL) throws -> [String] {
    let keys = try db.rows(statement.composedForRequest).compactMap { $0[0].text }
    if let max = preferences.affectedMax, keys.count > max { throw RestFailure.tooManyAffected(keys.count) }
    return keys
  }

  /// The rows of the query that the rule lets the caller change: with a limit, those of the page. The page of an
  /// operation that is restricted has been chosen before.
  func target(_ rule: RowExpression, _ writer: StatementWriter) throws -> SQL {
    let allowed: SQL = "(\(rule(resource.row, writer.caller)))"
    let condition: SQL = "\(try writer.condition(of: resource)) and \(allowed)"
    if let restriction { return "\(writer.isKey(of: resource.row, table, in: restriction)) and \(condition)" }
    guard resource.limit != nil || resource.offset > 0 else { return condition }
    let row = resource.row
    return """
      \(table.storedKey) in (select \(row.name).\(table.storedKey) from \(table.source) \(row.name) \
      where \(condition) \(try writer.orderAndLimit(of: resource))) and \(condition)
      """
  }
}

/// The assignments of a PATCH.
struct RowChanges {
  let assignments: SQL
  let isEmpty: Bool
  /// The id in the body: every changed row must have it already.
  private(set) var key: String?
  /// What ``TableWrites`` get.
  let values: RowValues

  /// - Throws: ``RestFailure`` for values of another type, and for columns that are not the client's to change.
  init(_ operation: RestOperation, _ caller: Caller) throws {
    let table = operation.table
    guard let body = operation.body, body.rows.count <= 1 else {
      throw RestFailure(400, "PGRST102", "A PATCH takes one object")
    }
    let members = body.rows.first ?? [:]
    var changes: [SQL] = []
    var values: [String: Value] = [:]
    for column in table.columns where body.columns.contains(column.name) && !body.rows.isEmpty {
      let tree = members[column.name]
      guard tree != nil || operation.preferences.missing != .default else { continue }
      switch column.writing {
      case .always, .onUpdate:
        let value = try column.type.value(of: tree ?? .null)
        values[column.name] = value
        changes.append("\(SQL(stringLiteral: column.stored)) = \(value)")
      case .owner: try column.requireOwner(tree, of: table, caller)
      case .key: key = try column.type.value(of: tree ?? .null).text
      case .createdAt, .updatedAt: break
      case .onInsert, .made: throw RestFailure.columnDenied(column.name, of: table.name)
      case .never:
        throw column.computed == nil
          ? RestFailure.columnDenied(column.name, of: table.name) : RestFailure.generated(column.name)
      }
    }
    self.values = RowValues(values)
    isEmpty = changes.isEmpty
    changes += table.columns.filter { if case .updatedAt = $0.writing { true } else { false } }.map { column in
      "\(SQL(stringLiteral: column.stored)) = \(caller.rowTime)"
    }
    assignments = SQL.joined(changes, by: ", ")
  }
}

extension StatementWriter {
  /// One binding, however many keys there are. One key has a statement of its own: PostgreSQL assumes that a list of
  /// unknown length is long, so that a plan for the one key always looks cheaper, and would plan each call anew.
  func isKey(of row: RowName, _ table: Table, in keys: [String]) -> SQL {
    let key: SQL = "\(row.name).\(table.storedKey)"
    if let only = keys.first, keys.count == 1 { return "\(key) = \(only)" }
    return choose(
      "\(key) in (select value from json_each(\(JSONTree.array(keys.map(JSONTree.string)).text)))",
      postgres: "\(key) = any(\(ArrayLiteral.text(of: keys))::uuid[])")
  }

  /// The rows of those keys, with the key first unless only their number is asked for.
  func select(_ resource: Resource, ofKeys keys: [String]) throws -> SQL {
    try select(
      resource, isKeyed: !resource.isCount, where: isKey(of: resource.row, resource.table, in: keys))
  }
}
