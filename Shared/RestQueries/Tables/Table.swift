import Database

/// The declaration of a table or view: its columns, its relations, and who may do what with which rows.
///
/// ```swift
/// Table(
///   "saved_places", from: "saved_place",
///   columns: [
///     Column("id", .uuid, .key), Column("user_id", .uuid, .owner), Column("name", .text),
///     Column("created_at", .timestamp, .createdAt),
///   ],
///   access: .ownersOnly { place, caller in "\(place.user_id) = \(caller.id)" })
/// ```
///
/// A class, as each request passes it on several times.
package final class Table: Sendable {
  /// On the wire.
  package let name: String
  package let columns: [Column]
  /// The name in the database, or a query in parentheses.
  let source: SQL
  let relations: [Relation]
  /// The columns of each unique index, for `on_conflict`.
  let uniqueColumns: [[String]]
  let access: Access
  /// The name on the wire of the column that identifies a row.
  let key: String
  /// Members of a body that are no columns: the service reads them itself, for what belongs to the row.
  let nested: [String]
  /// Whether PUT is understood: the insert or change of the one row of a key.
  let isReplaceable: Bool
  /// How many rows one caller may own. The bound holds however many inserts there are at the same time.
  let rowsPerOwnerMax: Int?
  let writes: TableWrites
  /// What `*` selects.
  let outputs: [Output]
  /// The same as the columns of a statement on rows named `t0`; nil where one of them depends on the caller.
  fileprivate let columnList: SQL?
  /// nil where a column depends on the caller.
  let sharedPage: SharedPage?
  /// The name in the database of the column that identifies a row.
  let storedKey: SQL
  /// The column with the id of a row's owner.
  let owner: Column?
  /// The places of the columns, by their names.
  private let places: [String: Int]

  package init(
    _ name: String, from source: SQL, columns: [Column], relations: [Relation] = [],
    unique uniqueColumns: [[String]] = [], key: String = "id", nested: [String] = [], isReplaceable: Bool = false,
    rowsPerOwnerMax: Int? = nil, access: Access, writes: TableWrites = TableWrites()
  ) {
    self.nested = nested
    self.name = name
    self.columns = columns
    self.source = source
    self.relations = relations
    self.uniqueColumns = uniqueColumns
    self.access = access
    self.key = key
    self.isReplaceable = isReplaceable
    self.rowsPerOwnerMax = rowsPerOwnerMax
    self.writes = writes
    outputs = columns.map { .column(OutputColumn($0)) }
    columnList =
      columns.allSatisfy { $0.computed == nil }
      ? SQL(stringLiteral: columns.enumerated().map { "t0.\($1.stored) as c\($0)" }.joined(separator: ", ")) : nil
    sharedPage = SharedPage(columns, from: source)
    storedKey = SQL(stringLiteral: columns.first { $0.name == key }?.stored ?? key)
    owner = columns.first { if case .owner = $0.writing { true } else { false } }
    places = Dictionary(columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
    precondition(places[key] != nil, "\(name) has no column \(key)")
    precondition(rowsPerOwnerMax == nil || owner != nil, "\(name) has no owners")
  }

  func column(_ name: String) -> Column? { places[name].map { columns[$0] } }

  /// Whether anybody may do that to any of its rows.
  package func allows(_ method: RestRequest.Method) -> Bool {
    switch method {
    case .get, .head: true
    case .post: access.inserts != nil
    case .put: isReplaceable
    case .patch: access.updates != nil
    case .delete: access.deletes != nil
    }
  }
}

extension Resource {
  /// The columns of a page that need not be composed.
  var columnList: SQL? { isWhole && row.alias == "t0" ? table.columnList : nil }
}

/// Which rows a caller sees and changes: conditions that are part of every statement on the table.
package struct Access: Sendable {
  /// Rows that other verbs touch and that are shown, also within other tables and in counts.
  let sees: RowExpression
  /// The new row must fulfil it. Without it nobody inserts.
  let inserts: RowExpression?
  /// Which of the rows that the caller sees may be changed. They must be seen after the change, too.
  let updates: RowExpression?
  let deletes: RowExpression?
  /// Whether it is that of ``ownersOnly(_:)``: a caller's rows are found by an index.
  private(set) var isOfOwners = false

  package init(
    sees: @escaping RowExpression, inserts: RowExpression? = nil, updates: RowExpression? = nil,
    deletes: RowExpression? = nil
  ) {
    self.sees = sees
    self.inserts = inserts
    self.updates = updates
    self.deletes = deletes
  }

  /// All verbs for those rows.
  package static func ownersOnly(_ owns: @escaping RowExpression) -> Access {
    var access = Access(sees: owns, inserts: owns, updates: owns, deletes: owns)
    access.isOfOwners = true
    return access
  }
}

/// The tables of a service.
package struct RestSchema: Sendable {
  /// In the order of their declaration.
  package let tables: [Table]
  private let tablesByName: [String: Table]

  package init(_ tables: Table...) {
    self.tables = tables
    tablesByName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
    for table in tables {
      for relation in table.relations {
        let target = tablesByName[relation.target]
        precondition(
          table.column(relation.column) != nil && target?.column(relation.targetColumn) != nil,
          "\(table.name) has no relation to \(relation.target)")
        guard let link = relation.link else { continue }
        let linkTable = tablesByName[link.table]
        precondition(
          linkTable?.column(link.column) != nil && linkTable?.column(link.targetColumn) != nil,
          "\(table.name) has no relation to \(relation.target) through \(link.table)")
      }
    }
  }

  /// - Throws: ``RestFailure`` PGRST205.
  package func table(_ name: String) throws -> Table {
    guard let table = tablesByName[name] else { throw RestFailure.unknownTable(name) }
    return table
  }

  /// The relation that an embedded resource names.
  func relation(from table: Table, to name: String, hint: String?) throws -> Relation {
    let found = table.relations.filter { $0.isNamed(name, hint: hint, of: table.name) }
    guard let relation = found.first else { throw RestFailure.noRelation(from: table.name, to: name) }
    guard found.count == 1 else {
      throw RestFailure.ambiguousRelation(from: table.name, to: name, hints: found.map { "\(name)!\($0.hint)" })
    }
    return relation
  }
}
