import CPostgres
import Database

/// Maps PostgreSQL's SQLSTATE (appendix A of its manual) to the failures that both engines share.
enum PostgresFailure {
  /// - Parameter connectionMessage: libpq's last error message of the connection, used where the result has none.
  static func failure(
    for result: OpaquePointer?, connectionIsOpen: Bool, connectionMessage: String
  ) -> DatabaseFailure {
    guard let state = field(result, .sqlState) else { return .unavailable(connectionMessage) }
    let message = field(result, .messagePrimary) ?? connectionMessage
    let constraint = field(result, .constraintName) ?? ""
    switch state {
    case "23505": return .unique(constraint)
    case "23514": return .check(constraint)
    case "23503": return .foreignKey
    case "23502": return .notNull(column: field(result, .columnName) ?? "")
    case "23000", "P0001": return .refused(message)
    case "40001", "40P01": return .contended
    case "53100", "53200": return .full(message)
    case "42501" where message.contains("permission denied"): return .refused(message)
    default: break
    }
    switch state.prefix(2) {
    case "08", "53", "57", "55": return .unavailable(message)  // connection, resources, operator, lock timeouts
    default: return connectionIsOpen ? .other("\(state): \(message)") : .unavailable(message)
    }
  }

  /// The field codes of `PQresultErrorField`: character macros of postgres_ext.h, which Swift does not import.
  private enum Field: Int32 {
    case sqlState = 67  // C
    case messagePrimary = 77  // M
    case constraintName = 110  // n
    case columnName = 99  // c
  }

  private static func field(_ result: OpaquePointer?, _ code: Field) -> String? {
    result.flatMap { PQresultErrorField($0, code.rawValue) }.map { String(cString: $0) }
  }
}
