import CPostgres
import Database
import Foundation

/// The result of one statement, as libpq returned it. A value is made of its text when it is read.
final class QueryResult {
  /// `nonisolated(unsafe)`: a result that libpq has returned is only read, so that any thread may ("Behavior in Threaded
  /// Programs" in its manual), and freed with its last row.
  private nonisolated(unsafe) let result: OpaquePointer?
  /// Those that have arrived one by one, before the result that ends them.
  private let earlierRows: [Row]

  /// Takes ownership of the libpq result.
  init(_ result: OpaquePointer?, after earlierRows: [Row] = []) {
    self.result = result
    self.earlierRows = earlierRows
  }

  deinit { PQclear(result) }

  var rows: [Row] {
    let count = Int(PQntuples(result))
    return count == 0 ? earlierRows : earlierRows + (0..<count).map { Row($0, of: self) }
  }

  var columns: [String] { (0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) } }

  /// The one row of a result that arrived by itself, without the result, which is larger than most rows.
  func storedRow(_ columns: [String]) -> Row {
    Row(columns: columns, values: columns.indices.map { value(0, $0) })
  }

  /// How many rows the statement changed.
  var changedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }
}

extension QueryResult: ResultRows {
  var columnCount: Int { Int(PQnfields(result)) }

  /// libpq's own search takes a name apart as SQL does.
  func column(named name: String) -> Int? {
    name.withCString { name in
      (0..<PQnfields(result)).first { strcmp(PQfname(result, $0), name) == 0 }.map(Int.init)
    }
  }

  func value(_ row: Int, _ column: Int) -> Value {
    // The text is the result's.
    withExtendedLifetime(self) {
      bytes(row, column).map { Value($0, PQftype(result, Int32(column))) } ?? .null
    }
  }

  func withValue(_ row: Int, _ column: Int, _ body: (BorrowedValue) -> Void) {
    withExtendedLifetime(self) {
      guard let bytes = bytes(row, column) else { return body(.null) }
      BorrowedValue.make(of: bytes, PQftype(result, Int32(column)), body)
    }
  }

  /// The text of a value; nil for null.
  private func bytes(_ row: Int, _ column: Int) -> UnsafeBufferPointer<UInt8>? {
    let (row, column) = (Int32(row), Int32(column))
    guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else { return nil }
    let count = Int(PQgetlength(result, row, column))
    return UnsafeBufferPointer(
      start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: count)
  }
}
