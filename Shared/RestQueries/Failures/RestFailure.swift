/// The error of a request, with the code, the status and the texts that PostgREST and PostgreSQL have for it.
package struct RestFailure: Error, Hashable, Sendable {
  package let status: Int
  /// `PGRST…`, or PostgreSQL's SQLSTATE.
  package let code: String
  package let message: String
  package let details: String?
  package let hint: String?

  package init(_ status: Int, _ code: String, _ message: String, details: String? = nil, hint: String? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.details = details
    self.hint = hint
  }
}

/// Failures of the query.
extension RestFailure {
  /// - Parameter column: where in the text, counted in characters from 1.
  static func unparsable(_ subject: String, _ text: String, column: Int, _ details: String) -> RestFailure {
    let excerpt = text.count > 200 ? text.prefix(200) + "…" : text[...]
    return RestFailure(
      400, "PGRST100", "\"failed to parse \(subject) (\(excerpt))\" (line 1, column \(column))", details: details)
  }

  /// - Parameter column: as above.
  static func unsupported(_ what: String, in subject: String, _ text: String, column: Int) -> RestFailure {
    unparsable(subject, text, column: column, "\(what) is not supported")
  }

  /// A bound of ``QueryBounds`` is exceeded.
  static func tooMuch(_ what: String, max: Int) -> RestFailure {
    RestFailure(400, "PGRST100", "The query is too large", details: "\(what): at most \(max)")
  }

  static func badRange(_ details: String) -> RestFailure {
    RestFailure(416, "PGRST103", "Requested range not satisfiable", details: details)
  }

  static func unknownTable(_ name: String) -> RestFailure {
    RestFailure(404, "PGRST205", "Could not find the table 'public.\(name)' in the schema cache")
  }

  static func unknownColumn(_ column: String, of table: String) -> RestFailure {
    RestFailure(400, "42703", "column \(table).\(column) does not exist")
  }

  static func unknownBodyColumn(_ column: String, of table: String) -> RestFailure {
    RestFailure(400, "PGRST204", "Could not find the '\(column)' column of '\(table)' in the schema cache")
  }

  static func noRelation(from table: String, to name: String) -> RestFailure {
    RestFailure(
      400, "PGRST200", "Could not find a relationship between '\(table)' and '\(name)' in the schema cache",
      details: "Searched for a foreign key relationship between '\(table)' and '\(name)', but no matches were found.")
  }

  static func ambiguousRelation(from table: String, to name: String, hints: [String]) -> RestFailure {
    RestFailure(
      300, "PGRST201",
      "Could not embed because more than one relationship was found for '\(table)' and '\(name)'",
      hint: "Try changing '\(name)' to one of the following: \(hints.joined(separator: ", ")).")
  }

  static func notEmbedded(_ name: String) -> RestFailure {
    RestFailure(
      400, "PGRST108", "'\(name)' is not an embedded resource in this request",
      hint: "Verify that '\(name)' is included in the 'select' query parameter.")
  }

  /// - Parameter path: the embedded resources that lead to it, and it.
  static func embeddedInItself(_ table: String, at path: [String]) -> RestFailure {
    RestFailure(
      400, "PGRST100", "'\(table)' is embedded in itself", details: "at \(path.joined(separator: " > "))",
      hint: "Each table is embedded once on the way to another.")
  }

  static func orderByMany(_ name: String, of table: String) -> RestFailure {
    RestFailure(
      400, "PGRST118", "A related order on '\(name)' is not possible",
      details: "'\(table)' and '\(name)' do not form a many-to-one or one-to-one relationship")
  }

  static func spreadOfMany(_ name: String, of table: String) -> RestFailure {
    RestFailure(
      400, "PGRST119", "A spread operation on '\(name)' is not possible",
      details: "'\(table)' and '\(name)' do not form a many-to-one or one-to-one relationship")
  }

  static func embedFilter(_ name: String) -> RestFailure {
    RestFailure(
      400, "PGRST120", "Only is null or not is null filters are allowed on embedded resources",
      details: "'\(name)' is an embedded resource")
  }

  static let aggregatesOff = RestFailure(400, "PGRST123", "Use of aggregate functions is not allowed")

  static func noOperator(_ name: String, for type: String) -> RestFailure {
    RestFailure(404, "42883", "operator \(name) does not exist for type \(type)")
  }

  static func notBoolean(_ word: String, type: String) -> RestFailure {
    RestFailure(400, "42804", "argument of IS \(word.uppercased()) must be type boolean, not type \(type)")
  }

  static func invalidText(_ text: String, for type: String) -> RestFailure {
    RestFailure(400, "22P02", "invalid input syntax for type \(type): \"\(text.prefix(100))\"")
  }

  static func outOfRange(_ text: String, for type: String) -> RestFailure {
    RestFailure(400, "22003", "value \"\(text.prefix(100))\" is out of range for type \(type)")
  }

  static let nulInText = RestFailure(400, "22021", "invalid byte sequence for encoding \"UTF8\": 0x00")
  static let patternEndsInEscape = RestFailure(400, "22025", "LIKE pattern must not end with escape character")

  static func invalidExpression(_ why: String) -> RestFailure {
    RestFailure(400, "2201B", "invalid regular expression: \(why)")
  }
}
