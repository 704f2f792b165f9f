import Foundation
import Wire

extension ChangeFilter {
  /// Whether a row satisfies all conditions. As in SQL, a comparison with null is neither true nor false.
  func matches(_ row: JSONValue) -> Bool { conditions.allSatisfy { $0.matches(row[$0.column]) } }
}

extension ChangeFilter.Condition {
  fileprivate func matches(_ value: JSONValue?) -> Bool {
    guard let result = result(value ?? .null) else { return false }
    return result != isNegated
  }

  /// nil for unknown.
  private func result(_ value: JSONValue) -> Bool? {
    guard let operand = values.first else { return nil }
    let isNull = value == .null
    switch comparison {
    case .is: return value.isLiteral(operand)
    case .isdistinct: return isNull ? operand.lowercased() != "null" : value.order(to: operand) != .orderedSame
    case _ where isNull: return nil
    case .eq: return value.order(to: operand) == .orderedSame
    case .neq: return value.order(to: operand) != .orderedSame
    case .lt: return value.order(to: operand) == .orderedAscending
    case .lte: return value.order(to: operand) != .orderedDescending
    case .gt: return value.order(to: operand) == .orderedDescending
    case .gte: return value.order(to: operand) != .orderedAscending
    case .in: return values.contains { value.order(to: $0) == .orderedSame }
    case .like: return LikePattern(operand).matches(value.plain)
    case .ilike: return LikePattern(operand.lowercased()).matches(value.plain.lowercased())
    }
  }
}

extension JSONValue {
  /// As text: what PostgreSQL casts it to.
  fileprivate var plain: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .number(let value): String(value)
    case .string(let value): value
    // `try?`: what was decoded can be encoded.
    case .array, .object: (try? JSON.encodeExact(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
  }

  fileprivate func isLiteral(_ name: String) -> Bool {
    switch (self, name.lowercased()) {
    case (.null, "null"), (.null, "unknown"), (.bool(true), "true"), (.bool(false), "false"): true
    default: false
    }
  }

  /// Numbers are compared as numbers, times as times, UUIDs in either case, all else as text.
  fileprivate func order(to operand: String) -> ComparisonResult {
    switch self {
    case .integer(let value):
      if let other = Int(operand) { return Self.order(value, other) }
      return Double(operand).map { Self.order(Double(value), $0) } ?? Self.order(plain, operand)
    case .number(let value): return Double(operand).map { Self.order(value, $0) } ?? Self.order(plain, operand)
    case .bool: return Self.order(plain, ["t": "true", "f": "false"][operand.lowercased()] ?? operand.lowercased())
    case .string(let value):
      if let own = RFC3339.parse(value), let other = RFC3339.parse(operand) { return Self.order(own, other) }
      return UUID(uuidString: value) == nil
        ? Self.order(value, operand) : Self.order(value.lowercased(), operand.lowercased())
    case .null, .array, .object: return Self.order(plain, operand)
    }
  }

  private static func order<T: Comparable>(_ left: T, _ right: T) -> ComparisonResult {
    left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
  }
}

/// A pattern of SQL's LIKE: `%` is any text, `_` one character, a backslash escapes. `*` is any text as well, as in
/// PostgREST. Matched in time proportional to the product of the lengths.
private struct LikePattern {
  private enum Part: Equatable { case any, one, character(Character) }

  private let parts: [Part]

  init(_ text: String) {
    var parts: [Part] = []
    var isEscaped = false
    for character in text {
      switch character {
      case _ where isEscaped:
        parts.append(.character(character))
        isEscaped = false
      case "\\": isEscaped = true
      case "%", "*": if parts.last != .any { parts.append(.any) }
      case "_": parts.append(.one)
      default: parts.append(.character(character))
      }
    }
    self.parts = parts
  }

  func matches(_ text: String) -> Bool {
    // Whether the first n parts match what has been read.
    var states = [Bool](repeating: false, count: parts.count + 1)
    states[0] = true
    skipAny(&states)
    for character in text {
      var next = [Bool](repeating: false, count: parts.count + 1)
      for (index, part) in parts.enumerated() where states[index] {
        switch part {
        case .any: next[index] = true
        case .one: next[index + 1] = true
        case .character(let expected): next[index + 1] = next[index + 1] || expected == character
        }
      }
      skipAny(&next)
      states = next
    }
    return states.last == true
  }

  private func skipAny(_ states: inout [Bool]) {
    for (index, part) in parts.enumerated() where states[index] && part == .any { states[index + 1] = true }
  }
}
