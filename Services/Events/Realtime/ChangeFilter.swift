import Wire

/// The conditions of a `filter` of `postgres_changes`: `column=op.value`, joined by commas, all of which must hold.
struct ChangeFilter: Sendable, Hashable {
  enum Operator: String, Sendable {
    case eq, neq, lt, lte, gt, gte, `in`, like, ilike, `is`, isdistinct
  }

  struct Condition: Sendable, Hashable {
    let column: String
    let isNegated: Bool
    let comparison: Operator
    let values: [String]
  }

  let conditions: [Condition]

  /// - Throws: ``ChangeFilterInvalid`` that says which part is wrong.
  init(_ text: String) throws(ChangeFilterInvalid) {
    var conditions: [Condition] = []
    var rest = text[...]
    while !rest.isEmpty {
      conditions.append(try Self.condition(&rest))
      guard rest.isEmpty || rest.removeFirst() == "," else { throw ChangeFilterInvalid(text: text) }
    }
    guard conditions.count <= Self.conditionsMax else { throw ChangeFilterInvalid(text: text) }
    self.conditions = conditions
  }

  private static let conditionsMax = 20

  private static func condition(_ rest: inout Substring) throws(ChangeFilterInvalid) -> Condition {
    let whole = String(rest)
    guard let equals = rest.firstIndex(of: "=") else { throw ChangeFilterInvalid(text: whole) }
    let column = rest[..<equals].trimmed
    rest = rest[rest.index(after: equals)...]
    var isNegated = false
    if rest.hasPrefix("not.") {
      isNegated = true
      rest = rest.dropFirst(4)
    }
    guard !column.isEmpty, let dot = rest.firstIndex(of: "."), let comparison = Operator(rawValue: String(rest[..<dot]))
    else { throw ChangeFilterInvalid(text: whole) }
    rest = rest[rest.index(after: dot)...]
    let values = comparison == .in ? try list(&rest, whole) : [try value(&rest, until: [","], whole)]
    if comparison == .is, !["null", "true", "false", "unknown"].contains(values.first?.lowercased()) {
      throw ChangeFilterInvalid(text: whole)
    }
    return Condition(column: column, isNegated: isNegated, comparison: comparison, values: values)
  }

  /// `(a,b)`
  private static func list(_ rest: inout Substring, _ whole: String) throws(ChangeFilterInvalid) -> [String] {
    guard rest.popFirst() == "(" else { throw ChangeFilterInvalid(text: whole) }
    var values: [String] = []
    while true {
      values.append(try value(&rest, until: [",", ")"], whole))
      switch rest.popFirst() {
      case ",": continue
      case ")" where values.count <= 100: return values
      default: throw ChangeFilterInvalid(text: whole)
      }
    }
  }

  /// A value up to a delimiter, which stays. In quotes, backslashes escape.
  private static func value(
    _ rest: inout Substring, until delimiters: Set<Character>, _ whole: String
  ) throws(ChangeFilterInvalid) -> String {
    guard rest.first == "\"" else {
      let value = rest.prefix { !delimiters.contains($0) }
      rest = rest[value.endIndex...]
      return value.trimmed
    }
    rest.removeFirst()
    var value = ""
    while let next = rest.popFirst() {
      if next == "\"" { return value }
      guard next == "\\" else {
        value.append(next)
        continue
      }
      guard let escaped = rest.popFirst() else { break }
      value.append(escaped)
    }
    throw ChangeFilterInvalid(text: whole)
  }
}

/// A filter that cannot be understood.
struct ChangeFilterInvalid: Error, Sendable {
  let text: String

  var message: String { "Error parsing `filter` params: \(text)" }
}

extension Substring {
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
