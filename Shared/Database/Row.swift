/// One row of a result, read by column name into the type that the context infers.
///
/// `public`, as are the types of columns: of generic functions that are `package`, even with `@inlinable`, the compiler
/// (Swift 6.3) makes no versions for the types of another module. One for each type is enough: they are not inlined.
public struct Row: Sendable {
  private let result: any ResultRows
  private let number: Int

  package init(_ number: Int, of result: any ResultRows) {
    self.result = result
    self.number = number
  }

  /// - Throws: ``DatabaseFailure/unreadable`` when there is no such column or its value is not of type `T`.
  @inlinable @inline(never) public func get<T: ColumnValue>(_ name: String, as type: T.Type = T.self) throws -> T {
    guard let value = T(column: try value(name)) else { throw DatabaseFailure.unreadable(column: name) }
    return value
  }

  /// The value of a column that may be null.
  @inlinable @inline(never) public func optional<T: ColumnValue>(_ name: String, as type: T.Type = T.self) throws -> T?
  {
    let value = try value(name)
    if case .null = value { return nil }
    guard let value = T(column: value) else { throw DatabaseFailure.unreadable(column: name) }
    return value
  }

  /// A text column as a case of an enumeration.
  ///
  /// - Throws: ``DatabaseFailure/unreadable`` also when the text is not the raw value of a case.
  @inlinable @inline(never) public func enumValue<Case: RawRepresentable<String>>(_ name: String) throws -> Case {
    guard let value = Case(rawValue: try get(name)) else { throw DatabaseFailure.unreadable(column: name) }
    return value
  }

  @usableFromInline func value(_ name: String) throws -> Value {
    guard let column = result.column(named: name) else { throw DatabaseFailure.unreadable(column: name) }
    return result.value(number, column)
  }
}

/// By the place of a column.
extension Row {
  package var columnCount: Int { result.columnCount }

  package subscript(column: Int) -> Value { result.value(number, column) }

  /// In the order of the statement's columns.
  package var values: [Value] { (0..<columnCount).map { self[$0] } }

  /// Calls `body` with the value of a column, of which nothing is copied. It must not outlive the call.
  package func withValue(at column: Int, _ body: (BorrowedValue) -> Void) { result.withValue(number, column, body) }
}

/// The rows of a result, of which each value is made when it is read. They do not depend on the connection that they
/// came from.
package protocol ResultRows: AnyObject, Sendable {
  var columnCount: Int { get }
  func column(named name: String) -> Int?
  func value(_ row: Int, _ column: Int) -> Value
  func withValue(_ row: Int, _ column: Int, _ body: (BorrowedValue) -> Void)
}

extension Row {
  /// A row that is kept by itself.
  package init(columns: [String], values: [Value]) { self.init(0, of: StoredRow(columns, values)) }

  /// Of the texts and bytes in it; a number counts as eight.
  package var byteCount: Int {
    var count = 0
    for column in 0..<columnCount {
      withValue(at: column) { value in
        switch value {
        case .null: break
        case .integer: count += 8
        case .text(let bytes), .bytes(let bytes): count += bytes.count
        }
      }
    }
    return count
  }
}

extension Row: CustomStringConvertible {
  /// The values, for tests that look for what must not be stored.
  public var description: String { "\(values)" }
}

private final class StoredRow: ResultRows {
  private let columns: [String]
  private let values: [Value]

  init(_ columns: [String], _ values: [Value]) {
    self.columns = columns
    self.values = values
  }

  var columnCount: Int { values.count }

  func column(named name: String) -> Int? {
    // Most other names have other lengths, which is found out faster than that their texts differ.
    let length = name.utf8.count
    return columns.firstIndex { $0.utf8.count == length && $0 == name }
  }

  func value(_ row: Int, _ column: Int) -> Value { values[column] }

  func withValue(_ row: Int, _ column: Int, _ body: (BorrowedValue) -> Void) { values[column].borrowed(body) }
}

/// The rows of a result while they are read, up to the bound of their statement.
package struct BoundedRows {
  package private(set) var rows: [Row] = []
  private let bytesMax: Int?
  private var bytes = 0

  package init(of statement: SQL) { bytesMax = statement.resultBytesMax }

  /// - Throws: ``DatabaseFailure/resultTooLarge(bytesMax:)``
  package mutating func append(_ row: Row) throws {
    rows.append(row)
    guard let bytesMax else { return }
    bytes += row.byteCount
    guard bytes <= bytesMax else { throw DatabaseFailure.resultTooLarge(bytesMax: bytesMax) }
  }
}
