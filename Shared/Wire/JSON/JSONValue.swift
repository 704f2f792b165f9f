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

  /// A member of an object; nil for other values.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }
}

/// The text that is being decoded, parsed by `JSONSerialization` when the first ``JSONValue`` in it is decoded.
///
/// `@unchecked Sendable`: the `userInfo` of a decoder requires it. A value is used by one call of
/// ``JSON/decode(_:from:userInfo:)`` only, on its thread.
final class JSONText: @unchecked Sendable {
  private let data: Data
  // `try?`: the decoder has parsed it as JSON before, and ``JSONValue`` throws for nil.
  private lazy var tree = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)

  init(_ data: Data) { self.data = data }

  func value(at path: [any CodingKey]) -> JSONValue? {
    var part: Any? = tree
    for key in path {
      if let members = part as? [String: Any] {
        part = members[key.stringValue]
      } else if let elements = part as? [Any], let index = key.intValue, elements.indices.contains(index) {
        part = elements[index]
      } else {
        return nil
      }
    }
    return part.flatMap(JSONValue.init(parsed:))
  }
}

extension CodingUserInfoKey {
  // `!`: only an empty name is not a key.
  static let jsonText = CodingUserInfoKey(rawValue: "JSONText")!
}

extension JSONValue {
  fileprivate init?(parsed value: Any) {
    switch value {
    case let text as String: self = .string(text)
    case let members as [String: Any]: self = .object(members.compactMapValues(JSONValue.init(parsed:)))
    case let elements as [Any]: self = .array(elements.compactMap(JSONValue.init(parsed:)))
    case is NSNull: self = .null
    // A number of many digits: its `doubleValue` has rounding errors, while its string is what was sent.
    case let number as NSDecimalNumber:
      guard let double = Double(number.stringValue) else { return nil }
      self = Int(number.stringValue).map(JSONValue.integer) ?? .number(double)
    case let number as NSNumber:
      // The type of a boolean is `char`, which no JSON number has.
      if String(cString: number.objCType) == "c" {
        self = .bool(number.boolValue)
      } else {
        self = Int(exactly: number).map(JSONValue.integer) ?? .number(number.doubleValue)
      }
    default: return nil
    }
  }
}
