import Database
import Foundation
import Wire

/// The type of a column: which texts it takes, and how its values are written as JSON.
///
/// On both engines ids are `uuid`, times `timestamptz`, numbers `double precision`, JSON `text` or `json`, and arrays
/// `jsonb`: a JSON array of texts, which PostgreSQL can index.
package enum ColumnType: Sendable, Hashable {
  case text, uuid, integer, number, boolean, timestamp, date, json, textArray, uuidArray

  /// PostgreSQL's name.
  var name: String {
    switch self {
    case .text: "text"
    case .uuid: "uuid"
    case .integer: "bigint"
    case .number: "double precision"
    case .boolean: "boolean"
    case .timestamp: "timestamp with time zone"
    case .date: "date"
    case .json: "json"
    case .textArray: "text[]"
    case .uuidArray: "uuid[]"
    }
  }

  var isArray: Bool { self == .textArray || self == .uuidArray }
  /// Whether a JSON path may follow.
  var isJSON: Bool { self == .json || isArray }
  fileprivate var element: ColumnType { self == .uuidArray ? .uuid : .text }

  /// The value that a text of a query names.
  ///
  /// - Throws: ``RestFailure`` as PostgreSQL does for the same text.
  func value(ofText text: String) throws -> Value {
    switch self {
    case .text: return .text(text)
    case .uuid:
      // Exactly as rules of services read it: spaces would make two of one.
      guard let id = ID<Any>(text) else { throw RestFailure.invalidText(text, for: name) }
      return id.binding
    case .integer: return .integer(try Self.integer(text))
    case .number:
      let number = try Self.number(text)
      return .text(Int64(exactly: number).map(String.init) ?? String(number))
    case .boolean: return .integer(try Self.boolean(text) ? 1 : 0)
    case .timestamp: return try TimestampText.date(text).binding
    case .date: return .text(try TimestampText.day(text))
    case .json: return .text(try Self.json(text).text)
    case .textArray, .uuidArray: return .text(try array(ofLiteral: text))
    }
  }

  /// The value of a member of a body. Times are stored in whole seconds, as they are shown.
  func value(of tree: JSONTree) throws -> Value {
    switch (self, tree) {
    case (_, .null): return .null
    case (.json, _): return .text(tree.text)
    case (.timestamp, .string(let text)):
      return Date(timeIntervalSince1970: try TimestampText.date(text).timeIntervalSince1970.rounded(.down)).binding
    case (.textArray, .array(let elements)), (.uuidArray, .array(let elements)):
      return .text(try array(of: elements.map { $0.plainText }))
    default:
      let value = try value(ofText: tree.plainText ?? "")
      if case .text(let text) = value, text.utf8.contains(0) { throw RestFailure.nulInText }
      return value
    }
  }

  /// A JSON array, as arrays are stored.
  func array(ofLiteral text: String) throws -> String {
    let trimmed = text.trimmed
    guard trimmed.hasPrefix("[") else { return try array(of: try ArrayLiteral.elements(of: trimmed)) }
    guard case .array(let elements) = try Self.json(trimmed) else { throw RestFailure.invalidText(text, for: name) }
    return try array(of: elements.map(\.plainText))
  }

  private func array(of elements: [String?]) throws -> String {
    guard elements.count <= QueryBounds.listMax else {
      throw RestFailure.tooMuch("elements of an array", max: QueryBounds.listMax)
    }
    return JSONTree.array(
      try elements.map { text in
        guard let text else { return .null }
        guard case .text(let value) = try element.value(ofText: text) else { return .null }
        return .string(value)
      }
    ).text
  }

  static func json(_ text: String) throws -> JSONTree {
    do { return try JSONReader.tree(of: text) } catch is JSONReader.Problem {
      throw RestFailure.invalidText(text, for: "json")
    }
  }

  private static func integer(_ text: String) throws -> Int64 {
    let trimmed = text.trimmed
    if let number = Int64(trimmed) { return number }
    let digits = trimmed.drop { $0 == "-" || $0 == "+" }
    let isNumber =
      !digits.isEmpty && trimmed.count - digits.count <= 1 && digits.utf8.allSatisfy { (48...57).contains($0) }
    throw isNumber ? RestFailure.outOfRange(text, for: "bigint") : RestFailure.invalidText(text, for: "bigint")
  }

  static func number(_ text: String) throws -> Double {
    let trimmed = text.trimmed
    let isDecimal = trimmed.utf8.allSatisfy { (48...57).contains($0) || "+-.eE".utf8.contains($0) }
    guard isDecimal, let number = Double(trimmed) else {
      throw RestFailure.invalidText(text, for: "double precision")
    }
    guard number.isFinite else { throw RestFailure.outOfRange(text, for: "double precision") }
    return number
  }

  private static func boolean(_ text: String) throws -> Bool {
    switch text.trimmed.lowercased() {
    case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1": return true
    case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0": return false
    default: throw RestFailure.invalidText(text, for: "boolean")
    }
  }
}

extension String {
  /// Without the spaces around it, of which a text has hardly ever any: Foundation copies it in any case.
  fileprivate var trimmed: String {
    let isVisible: (UInt8) -> Bool = { (0x21...0x7E).contains($0) }
    guard let first = utf8.first, let last = utf8.last, !isVisible(first) || !isVisible(last) else { return self }
    return trimmingCharacters(in: .whitespaces)
  }
}
