import Foundation

/// JSON of any shape, which is passed on unchanged.
package enum JSONValue: Codable, Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Works only in ``JSON/decode(_:from:userInfo:)``. Trying one type after the other takes minutes for 60 KB of deeply
  /// nested JSON, as every error contains the whole coding path.
  package init(from decoder: any Decoder) throws {
    guard let text = decoder.userInfo[.jsonText] as? JSONText, let value = text.value(at: decoder.codingPath) else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "is not JSON"))
    }
    self = value
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// Appends the value without white space, with the members of each object in the order of their names: what
  /// ``JSON/encode(_:)`` writes, without a tree.
  ///
  /// - Throws: `EncodingError` for a number that is not finite.
  package func write(to output: inout [UInt8]) throws {
    switch self {
    case .null: output += "null".utf8
    case .bool(let value): output += (value ? "true" : "false").utf8
    case .integer(let value): output += String(value).utf8
    case .number: output += try JSON.encode(self)
    case .string(let value): JSONTree.write(value, to: &output)
    case .array(let values):
      output.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        try value.write(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        JSONTree.write(member.key, to: &output)
        output.append(UInt8(ascii: ":"))
        try member.value.write(to: &output)
      }
      output.append(UInt8(ascii: "}"))
    }
  }

  /// A member of an object; nil for other values.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }
}

/// The text that is being decoded, parsed when the first ``JSONValue`` in it is decoded.
///
/// `@unchecked Sendable`: the `userInfo` of a decoder requires it. A value is used by one call of
/// ``JSON/decode(_:from:userInfo:)`` only, on its thread.
final class JSONText: @unchecked Sendable {
  private let data: Data
  /// As deep as a decoder accepts.
  static let nestingMax = 512
  // `try?`: the decoder has parsed it as JSON before, and ``JSONValue`` throws for nil.
  private lazy var tree = try? JSONReader.tree(of: Array(data), nestingMax: Self.nestingMax, acceptsNul: true)

  init(_ data: Data) { self.data = data }

  func value(at path: [any CodingKey]) -> JSONValue? {
    var part = tree
    for key in path {
      switch part {
      case .object: part = part?[key.stringValue]
      case .array(let elements):
        part = key.intValue.flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      default: return nil
      }
    }
    return part.map { JSONValue($0) }
  }
}

extension CodingUserInfoKey {
  // `!`: only an empty name is not a key.
  static let jsonText = CodingUserInfoKey(rawValue: "JSONText")!
}

extension JSONValue {
  package init(_ tree: JSONTree) {
    self =
      switch tree {
      case .null: .null
      case .bool(let value): .bool(value)
      case .number(let digits): .init(number: digits)
      case .string(let text): .string(text)
      case .array(let elements): .array(elements.map { JSONValue($0) })
      case .object(let members):
        .object(Dictionary(uniqueKeysWithValues: members.map { ($0.name, JSONValue($0.value)) }))
      }
  }

  /// - Parameter digits: of a number that is not too large for `Double`, as a reader has checked.
  private init(number digits: String) {
    guard digits.utf8.contains(where: { ".eE".utf8.contains($0) }) else {
      self = Int(digits).map(JSONValue.integer) ?? .number(Double(digits) ?? 0)
      return
    }
    let number = Double(digits) ?? 0
    self = Int(exactly: number).map(JSONValue.integer) ?? .number(number)
  }
}
