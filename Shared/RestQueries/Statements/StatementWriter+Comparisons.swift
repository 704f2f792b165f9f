import Database

/// The left side of a comparison.
struct Operand {
  let value: SQL
  let type: ColumnType

  init(_ value: SQL, _ type: ColumnType) {
    self.value = value
    self.type = type
  }
}

/// Comparisons of a value with a text of the query.
extension StatementWriter {
  func compare(_ operand: Operand, _ comparison: Comparison, _ text: String) throws -> SQL {
    switch comparison {
    case .like, .ilike, .match, .imatch: return try match(operand, comparison, text)
    case .eq, .neq, .isdistinct:
      if operand.type.isJSON { return try compareJSON(operand, comparison, text) }
      return try binary(operand.value, symbol(comparison), text, operand.type)
    case .gt, .gte, .lt, .lte:
      if operand.type == .json { return try compareJSONNumber(operand, comparison, text) }
      guard !operand.type.isArray else { throw RestFailure.noOperator(comparison.rawValue, for: operand.type.name) }
      return try binary(orderable(operand.value, operand.type), symbol(comparison), text, operand.type)
    }
  }

  private func symbol(_ comparison: Comparison) -> SQL {
    switch comparison {
    case .eq: "="
    case .neq: "<>"
    case .gt: ">"
    case .gte: ">="
    case .lt: "<"
    case .lte: "<="
    default: choose("is not", postgres: "is distinct from")
    }
  }

  /// A comparison with a binding of the column's type. Numbers are cast, as SQLite compares computed columns without a
  /// conversion, and PostgreSQL would take the narrower type of the column.
  private func binary(_ left: SQL, _ symbol: SQL, _ text: String, _ type: ColumnType) throws -> SQL {
    let value = try type.value(ofText: text)
    switch type {
    case .integer: return "(\(left) \(symbol) cast(\(value) as bigint))"
    case .number: return "(\(left) \(symbol) cast(\(value) as double precision))"
    default: return "(\(left) \(symbol) \(value))"
    }
  }

  /// Equal JSON is equal whatever the order of its members and the notation of its numbers.
  private func compareJSON(_ operand: Operand, _ comparison: Comparison, _ text: String) throws -> SQL {
    let other = try jsonText(text, operand.type)
    if engine == .postgres {
      return "((\(operand.value))::jsonb \(symbol(comparison)) \(other)::jsonb)"
    }
    let isEqual: SQL = "rest_json_equals(\(operand.value), \(other))"
    switch comparison {
    case .eq: return isEqual
    case .neq: return "(not \(isEqual))"
    default: return "(not coalesce(\(isEqual), false))"
    }
  }

  /// JSON is greater or less than a number only if it is a number.
  private func compareJSONNumber(_ operand: Operand, _ comparison: Comparison, _ text: String) throws -> SQL {
    let number = jsonNumber(operand.value)
    return try binary(number, symbol(comparison), text, .number)
  }

  private func match(_ operand: Operand, _ comparison: Comparison, _ text: String) throws -> SQL {
    let value = operand.value
    guard operand.type == .text else {
      let name = [Comparison.like: "~~", .ilike: "~~*", .match: "~", .imatch: "~*"][comparison] ?? comparison.rawValue
      throw RestFailure.noOperator(name, for: operand.type.name)
    }
    switch comparison {
    case .like:
      let pattern = try LikePattern(text)
      return choose("(\(value) glob \(pattern.globText))", postgres: "(\(value) like \(pattern.likeText))")
    case .ilike:
      let pattern = try LikePattern(text).likeText
      return choose(
        "(\(value) like \(pattern) escape '\\')", postgres: "(\(value) collate \"C\" ilike \(pattern))")
    default:
      let isCaseSensitive = comparison == .match
      let expression = try RegularExpression(text, isCaseSensitive: isCaseSensitive)
      let sign: SQL = isCaseSensitive ? "~" : "~*"
      let flag: SQL = isCaseSensitive ? "1" : "0"
      return choose(
        "rest_matches(\(value), \(text), \(flag))",
        postgres: "(\(value) collate \"C\" \(sign) \(expression.postgresText))")
    }
  }
}
