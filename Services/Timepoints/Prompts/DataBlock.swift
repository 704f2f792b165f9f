import Foundation
import Wire

/// The material of a prompt: JSON between tags that no text inside it can close.
struct DataBlock: Sendable {
  let text: String

  /// - Throws: `EncodingError`.
  init(_ data: JSONValue) throws {
    // Outside of strings, JSON has neither character. Bytes and not characters are looked at: with a combining mark,
    // "<" is another character.
    let closed = try JSON.encode(data).reduce(into: [UInt8]()) { bytes, byte in
      switch byte {
      case UInt8(ascii: "<"): bytes += Array("\\u003c".utf8)
      case UInt8(ascii: ">"): bytes += Array("\\u003e".utf8)
      default: bytes.append(byte)
      }
    }
    text = "<data>\n\(String(decoding: closed, as: UTF8.self))\n</data>"
  }
}
