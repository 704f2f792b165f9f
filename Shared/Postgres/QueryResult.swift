import CPostgres
import Database

/// The result of one statement, as libpq returned it.
final class QueryResult {
  private let result: OpaquePointer?
  /// Those that have arrived one by one, before the result that ends them.
  private let earlierRows: [Row]

  /// Takes ownership of the libpq result.
  init(_ result: OpaquePointer?, after earlierRows: [Row] = []) {
    self.result = result
    self.earlierRows = earlierRows
  }

  deinit { PQclear(result) }

  var rows: [Row] {
    let count = PQntuples(result)
    guard count > 0 else { return earlierRows }
    let columns = ResultColumns(result)
    return earlierRows + (0..<count).map { columns.row($0, of: result) }
  }

  /// How many rows the statement changed.
  var changedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }
}

/// The columns of a result, which all of its rows have.
struct ResultColumns {
  private let names: [String]
  private let types: [Oid]

  init(_ result: OpaquePointer?) {
    names = (0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) }
    types = (0..<PQnfields(result)).map { PQftype(result, $0) }
  }

  func row(_ number: Int32, of result: OpaquePointer?) -> Row {
    Row(columns: names, values: types.indices.map { Value(result, number, Int32($0), types[$0]) })
  }
}
