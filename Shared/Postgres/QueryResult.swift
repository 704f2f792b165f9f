import CPostgres
import Database

/// The result of one statement, as libpq returned it.
final class QueryResult {
  private let result: OpaquePointer?

  /// Takes ownership of the libpq result.
  init(_ result: OpaquePointer?) { self.result = result }

  deinit { PQclear(result) }

  var rows: [Row] {
    let columns = (0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) }
    let types = (0..<PQnfields(result)).map { PQftype(result, $0) }
    return (0..<PQntuples(result)).map { row in
      Row(columns: columns, values: types.indices.map { Value(result, row, Int32($0), types[$0]) })
    }
  }

  /// How many rows the statement changed.
  var changedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }
}
