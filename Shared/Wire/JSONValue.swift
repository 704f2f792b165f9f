import Foundation

/// JSON whose shape is its sender's business, to be passed on as it is.
package enum JSONValue: Codable, Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Only through ``JSON/decode(_:from:)``. To ask a decoder for one type after the other takes it minutes over 60 KB that
  /// are nested deeply, as each refusal names the whole way to the value.
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

  /// A member of an object.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }
}

/// What is being decoded, read by `JSONSerialization` once a ``JSONValue`` in it is asked for.
///
/// `@unchecked Sendable`: a decoder's `userInfo` wants it, and it belongs to one call of ``JSON/decode(_:from:)``, which
/// nobody else sees and which stays on its thread.
final class JSONText: @unchecked Sendable {
  private let data: Data
  // `try?`: the decoder has found out before that it is JSON, and ``JSONValue`` refuses what is nil.
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
    return part.flatMap(JSONValue.init(read:))
  }
}

extension CodingUserInfoKey {
  // A name that is not empty is always a key.
  static let jsonText = CodingUserInfoKey(rawValue: "JSONText")!
}

extension JSONValue {
  fileprivate init?(read value: Any) {
    switch value {
    case let text as String: self = .string(text)
    case let members as [String: Any]: self = .object(members.compactMapValues(JSONValue.init(read:)))
    case let elements as [Any]: self = .array(elements.compactMap(JSONValue.init(read:)))
    case is NSNull: self = .null
    // One of many digits: as a number it has been divided by ten too often to be exact, as text it is what was sent.
    case let number as NSDecimalNumber:
      guard let double = Double(number.stringValue) else { return nil }
      self = Int(number.stringValue).map(JSONValue.integer) ?? .number(double)
    case let number as NSNumber:
      // A boolean says that it is a character, and no number in JSON is one.
      if String(cString: number.objCType) == "c" {
        self = .bool(number.boolValue)
      } else {
        self = Int(exactly: number).map(JSONValue.integer) ?? .number(number.doubleValue)
      }
    default: return nil
    }
  }
}
