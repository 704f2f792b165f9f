import Database

/// Failures of bodies, headers and rows.
extension RestFailure {
  static let invalidJSON = RestFailure(400, "PGRST102", "Empty or invalid json")
  static let differentKeys = RestFailure(400, "PGRST102", "All object keys must match")

  static func unacceptableBody(_ type: String) -> RestFailure {
    RestFailure(400, "PGRST102", "Content-Type not acceptable: \(type.prefix(100))")
  }

  static func tooManyRows(max: Int) -> RestFailure {
    RestFailure(400, "PGRST102", "The body has too many rows", details: "at most \(max)")
  }

  /// Of a PATCH or DELETE.
  static func tooManyChanges(max: Int) -> RestFailure {
    RestFailure(
      400, "54000", "The request changes too many rows", details: "at most \(max)",
      hint: "Name fewer rows, or add a limit.")
  }

  static func tooManyOwnRows(of table: String, max: Int) -> RestFailure {
    RestFailure(
      400, "54000", "There are too many rows of one user in \(table)", details: "at most \(max)",
      hint: "Delete rows that are not needed any more.")
  }

  static let answerTooLarge = RestFailure(
    400, "54000", "The answer is too large", details: "It has more than \(QueryBounds.answerBytesMax) bytes.",
    hint: "Ask for fewer rows at a time, or for fewer columns.")

  static func unacceptable(_ accept: String) -> RestFailure {
    RestFailure(406, "PGRST107", "None of these media types are available: \(accept.prefix(200))")
  }

  static func notSingle(_ count: Int) -> RestFailure {
    RestFailure(
      406, "PGRST116", "Cannot coerce the result to a single JSON object", details: "The result contains \(count) rows")
  }

  static func unknownPreferences(_ names: [String]) -> RestFailure {
    RestFailure(
      400, "PGRST122", "Invalid preferences given with handling=strict",
      details: "Invalid preferences: \(names.joined(separator: ", "))")
  }

  static func tooManyAffected(_ count: Int) -> RestFailure {
    RestFailure(
      400, "PGRST124", "Query result exceeds max-affected preference constraint",
      details: "The query affects \(count) rows")
  }

  static func unknownSchema(_ name: String) -> RestFailure {
    RestFailure(
      406, "PGRST106", "Invalid schema: \(name.prefix(100))", hint: "Only the following schemas are exposed: public")
  }

  static let incompleteKey = RestFailure(
    405, "PGRST105", "Filters must include all and only primary key columns with 'eq' operators")
  static let pageOfPut = RestFailure(
    400, "PGRST114", "limit/offset querystring parameters are not allowed for PUT")
  static let differentKey = RestFailure(
    400, "PGRST115", "Payload values do not match URL in primary key column(s)")
  static let differentFieldCounts = RestFailure(400, "PGRST102", "All lines must have same number of fields")

  static func unsupportedMethod(_ method: String) -> RestFailure {
    RestFailure(405, "PGRST117", "Unsupported HTTP method: \(method)")
  }

  static func unfiltered(_ verb: String) -> RestFailure {
    RestFailure(400, "21000", "\(verb) requires a WHERE clause")
  }

  package static func permissionDenied(_ table: String) -> RestFailure {
    RestFailure(403, "42501", "permission denied for table \(table)")
  }

  static func columnDenied(_ column: String, of table: String) -> RestFailure {
    RestFailure(
      403, "42501", "permission denied for table \(table)", details: "The column \(column) may not be set to that.")
  }

  package static func newRowDenied(_ table: String) -> RestFailure {
    RestFailure(403, "42501", "new row violates row-level security policy for table \"\(table)\"")
  }

  package static func generated(_ column: String) -> RestFailure {
    RestFailure(
      400, "428C9", "column \"\(column)\" can only be updated to DEFAULT",
      details: "Column \"\(column)\" is a generated column.")
  }

  static func noConflictTarget() -> RestFailure {
    RestFailure(
      400, "42P10", "there is no unique or exclusion constraint matching the ON CONFLICT specification")
  }

  package static func duplicate(_ constraint: String) -> RestFailure {
    RestFailure(409, "23505", "duplicate key value violates unique constraint \"\(constraint)\"")
  }

  /// The answer to a failure of the database; nil for one on the server's side, which is not the client's to see.
  package init?(_ failure: DatabaseFailure, table: String) {
    switch failure {
    case .unique(let name): self = .duplicate(name)
    case .check(let name):
      self.init(400, "23514", "new row for relation \"\(table)\" violates check constraint \"\(name)\"")
    case .foreignKey:
      self.init(409, "23503", "insert or update on table \"\(table)\" violates foreign key constraint")
    case .notNull(let column):
      let name = column.split(separator: ".").last.map(String.init) ?? column
      self.init(400, "23502", "null value in column \"\(name)\" of relation \"\(table)\" violates not-null constraint")
    case .refused(let message): self.init(403, "42501", message)
    case .nulInText: self = .nulInText
    case .resultTooLarge: self = .answerTooLarge
    case .other(let message):
      // A value that does not fit its column (class 22), or is larger than any may be (class 54), in the words of the
      // database.
      guard message.hasPrefix("22") || message.hasPrefix("54"), let colon = message.firstIndex(of: ":") else {
        return nil
      }
      self.init(400, String(message[..<colon]), String(message[colon...].dropFirst(2)))
    default: return nil
    }
  }
}

extension RestFailure {
  /// The value of the header `Proxy-Status`, from which clients read the code of an answer to HEAD.
  package var proxyStatus: String { "PostgREST; error=\(code)" }

  /// The code in the list of older clients, for `error.code`.
  package var contractCode: String {
    switch status {
    case 401: "AUTH_REQUIRED"
    case 403: "PERMISSION_DENIED"
    case 429: "RATE_LIMIT_EXCEEDED"
    case 503: "NOT_CONNECTED"
    case 500...: "SERVER_ERROR"
    default: "VALIDATION_ERROR"
    }
  }
}
