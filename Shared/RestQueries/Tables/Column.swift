import Database

/// A column as it goes over the wire.
package struct Column: Sendable {
  /// Who sets the value.
  package enum Writing: Sendable {
    /// The client, on insert and on update.
    case always
    case onInsert
    case onUpdate
    /// The server, unless an insert brings an id. It never changes.
    case key
    /// The server: the caller. A body may repeat it, and may not name another.
    case owner
    /// The server, on insert; what a body says is ignored.
    case createdAt
    /// The server, on insert and on update; what a body says is ignored.
    case updatedAt
    /// The server, on insert.
    case made(@Sendable (Caller) -> Value)
    /// Other statements of the service.
    case never
  }

  package let name: String
  package let type: ColumnType
  package let writing: Writing
  /// The name in the database.
  let stored: String
  let computed: RowExpression?
  /// By what rows are ordered that are ordered by the column, where that tells apart what is shown as equal.
  private var ordering: RowExpression?

  package init(_ name: String, _ type: ColumnType, _ writing: Writing = .always, stored: String? = nil) {
    self.name = name
    self.type = type
    self.writing = writing
    self.stored = stored ?? name
    self.computed = nil
  }

  /// A column that is written, and shown as something else: a state that also depends on the time.
  package init(_ name: String, _ type: ColumnType, _ writing: Writing = .always, shown: @escaping RowExpression) {
    self.name = name
    self.type = type
    self.writing = writing
    self.stored = name
    self.computed = shown
  }

  /// A column that is computed for each row and cannot be written.
  package init(_ name: String, _ type: ColumnType, computed: @escaping RowExpression) {
    self.name = name
    self.type = type
    self.writing = .never
    self.stored = name
    self.computed = computed
  }

  /// The same column, by which rows are ordered more finely than it shows: equal values are told apart.
  package func ordered(by ordering: @escaping RowExpression) -> Column {
    var column = self
    column.ordering = ordering
    return column
  }

  func order(_ row: RowName, _ caller: Caller) -> SQL {
    ordering.map { "(\($0(row, caller)))" } ?? expression(row, caller)
  }

  func expression(_ row: RowName, _ caller: Caller) -> SQL {
    computed.map { "(\($0(row, caller)))" } ?? row[stored]
  }
}
