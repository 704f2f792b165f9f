import Database
import Wire

/// A row that is to be inserted: each stored column with its value. What is left out has the default of the schema.
struct NewRow {
  private let table: Table
  private let row: RowName
  private let stored: [(column: Column, value: Value)]
  /// The columns that the client has set.
  private let given: Set<String>
  private let nested: [String: JSONTree]

  /// - Throws: ``RestFailure`` for values of another type, and for columns that are not the client's to set.
  init(_ members: [String: JSONTree], columns: [String], operation: RestOperation, _ caller: Caller) throws {
    table = operation.table
    row = operation.resource.row
    given = Set(columns.filter { members[$0] != nil || operation.preferences.missing != .default })
    let given = given
    nested = members.filter { operation.table.nested.contains($0.key) }
    stored = try operation.table.columns.compactMap { column in
      let tree = given.contains(column.name) ? members[column.name] ?? .null : nil
      return try column.inserted(tree, of: operation.table, caller).map { (column, $0) }
    }
  }

  /// What ``TableWrites`` get of a new row.
  var values: RowValues {
    RowValues(Dictionary(stored.map { ($0.column.name, $0.value) }) { first, _ in first }, nested: nested)
  }

  /// What they get where it changes a row that is there.
  var changes: RowValues {
    let changed = stored.filter { column, _ in
      if case .always = column.writing { given.contains(column.name) } else { false }
    }
    return RowValues(Dictionary(changed.map { ($0.column.name, $0.value) }) { first, _ in first })
  }

  var key: String? { values[table.key]?.text }

  /// Returns the key of the row, nothing for one that was in the way and is left alone.
  func insertion(_ conflict: RestOperation.Conflict) -> SQL {
    let columns = SQL.joined(stored.map { SQL(stringLiteral: $0.column.stored) }, by: ", ")
    let list = SQL.joined(stored.map { "\($0.value)" }, by: ", ")
    return """
      insert into \(table.source) as \(row.name) (\(columns)) values (\(list))\(clause(conflict)) \
      returning \(table.storedKey)
      """
  }

  private func clause(_ conflict: RestOperation.Conflict) -> SQL {
    switch conflict {
    case .fail: return ""
    case .ignore(let columns): return " on conflict (\(Self.names(columns))) do nothing"
    case .merge(let columns, let condition):
      let changes = SQL.joined(changed(except: columns), by: ", ")
      return " on conflict (\(Self.names(columns))) do update set \(changes) where \(condition)"
    }
  }

  /// At least one column: the row that is in the way must be returned, too.
  private func changed(except target: [Column]) -> [SQL] {
    let names = Set(target.map(\.name))
    let columns = stored.map(\.column).filter { column in
      guard !names.contains(column.name) else { return false }
      switch column.writing {
      case .always: return given.contains(column.name)
      case .updatedAt: return true
      default: return false
      }
    }
    return (columns.isEmpty ? Array(target.prefix(1)) : columns).map { column in
      let name = SQL(stringLiteral: column.stored)
      return "\(name) = excluded.\(name)"
    }
  }

  private static func names(_ columns: [Column]) -> SQL {
    SQL.joined(columns.map { SQL(stringLiteral: $0.stored) }, by: ", ")
  }
}

extension Column {
  /// The value of a new row; nil for the default.
  ///
  /// - Parameter tree: what the client sent, nil when it sent nothing.
  fileprivate func inserted(_ tree: JSONTree?, of table: Table, _ caller: Caller) throws -> Value? {
    switch writing {
    case .always, .onInsert: return try tree.map(type.value)
    case .key:
      guard let tree, tree != .null else { return ID<Any>.new(at: caller.now).binding }
      return try type.value(of: tree)
    case .owner:
      try requireOwner(tree, of: table, caller)
      return caller.id.binding
    case .createdAt, .updatedAt: return caller.rowTime.binding
    case .made(let make):
      guard tree == nil else { throw RestFailure.generated(name) }
      return make(caller)
    case .onUpdate, .never:
      guard tree == nil else {
        throw computed == nil ? RestFailure.columnDenied(name, of: table.name) : .generated(name)
      }
      return nil
    }
  }

  /// - Throws: ``RestFailure`` 42501 when the body names another than the caller.
  func requireOwner(_ tree: JSONTree?, of table: Table, _ caller: Caller) throws {
    guard let tree, tree != .null else { return }
    guard try type.value(of: tree) == caller.id.binding else { throw RestFailure.columnDenied(name, of: table.name) }
  }
}
