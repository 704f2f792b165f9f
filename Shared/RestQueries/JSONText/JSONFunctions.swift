import Database
import Wire

/// The functions that statements of this module call on SQLite.
package enum RestFunctions {
  package static let all: [SQLiteFunction] = [
    SQLiteFunction("rest_json", argumentCount: 2) { arguments in
      try found(arguments).map { .text($0.text) } ?? .null
    },
    SQLiteFunction("rest_json_text", argumentCount: 2) { arguments in
      try found(arguments)?.plainText.map { .text($0) } ?? .null
    },
    SQLiteFunction("rest_json_number", argumentCount: 2) { arguments in
      guard case .number(let digits) = try found(arguments) else { return .null }
      return Double(digits).map { .number($0) } ?? .null
    },
    SQLiteFunction("rest_json_equals", argumentCount: 2) { try compared($0) { try $0.equals($1) } },
    SQLiteFunction("rest_json_contains", argumentCount: 2) { try compared($0) { try $0.contains($1) } },
    // SQLite's own text of a number has fifteen digits, too few to read the same number.
    SQLiteFunction("rest_number_text", argumentCount: 1) { $0[0].text.map { .text($0) } ?? .null },
    SQLiteFunction("rest_matches", argumentCount: 3) { arguments in
      guard let text = arguments[0].text, let pattern = arguments[1].text else { return .null }
      let isCaseSensitive = if case .number(1) = arguments[2] { true } else { false }
      return .bool(try RegularExpression(pattern, isCaseSensitive: isCaseSensitive).matches(text))
    },
  ]

  /// The value in the JSON of the first argument at the path of the second.
  private static func found(_ arguments: [FunctionArgument]) throws -> JSONTree? {
    guard let text = arguments[0].text, let path = arguments[1].text else { return nil }
    return try JSONReader.tree(of: text).value(at: try JSONStep.path(from: path))
  }

  private static func compared(
    _ arguments: [FunctionArgument], _ isTrue: (JSONTree, JSONTree) throws -> Bool
  ) throws -> FunctionResult {
    guard let one = arguments[0].text, let two = arguments[1].text else { return .null }
    return .bool(try isTrue(try JSONReader.tree(of: one), try JSONReader.tree(of: two)))
  }
}

extension JSONStep {
  /// A path as a JSON array of keys and indices, in which it is passed to SQLite.
  static func text(of path: [JSONStep]) -> String {
    JSONTree.array(
      path.map { step in
        switch step.part {
        case .key(let key): .string(key)
        case .index(let index): .number(String(index))
        }
      }
    ).text
  }

  static func path(from text: String) throws -> [JSONStep] {
    guard case .array(let parts) = try JSONReader.tree(of: text) else { return [] }
    return parts.compactMap { part in
      switch part {
      case .string(let key): JSONStep(part: .key(key), isText: false)
      case .number(let digits): Int(digits).map { JSONStep(part: .index($0), isText: false) }
      default: nil
      }
    }
  }
}
