import Foundation

extension JSON {
  /// The same text as for any value, without the generic encoder, which takes ten times as long for trees of values.
  ///
  /// - Throws: `EncodingError` for a number that is not finite.
  package static func encode(_ value: JSONValue) throws -> Data {
    var text: [UInt8] = []
    try value.write(to: &text)
    return Data(text)
  }
}

extension JSONValue {
  fileprivate func write(to text: inout [UInt8]) throws {
    switch self {
    case .null: text += "null".utf8
    case .bool(let value): text += (value ? "true" : "false").utf8
    case .integer(let value): text += String(value).utf8
    case .number(let value): text += try Self.text(of: value).utf8
    case .string(let value): Self.write(value, to: &text)
    case .array(let values):
      text.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        try value.write(to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        Self.write(member.key, to: &text)
        text.append(UInt8(ascii: ":"))
        try member.value.write(to: &text)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  private static func text(of number: Double) throws -> String {
    guard number.isFinite else {
      throw EncodingError.invalidValue(number, .init(codingPath: [], debugDescription: "is not finite"))
    }
    return Int(exactly: number).map { String($0) } ?? "\(number)"
  }

  private static func write(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): text += #"\n"#.utf8
      case UInt8(ascii: "\r"): text += #"\r"#.utf8
      case UInt8(ascii: "\t"): text += #"\t"#.utf8
      case 0..<0x20: text += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }
}
