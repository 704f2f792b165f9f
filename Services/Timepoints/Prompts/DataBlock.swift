import Foundation
import Wire

/// The material of a prompt: JSON between tags that no text inside it can close.
struct DataBlock: Sendable {
  let text: String

  /// - Throws: `EncodingError`.
  init(_ data: JSONValue) throws {
    let json = String(decoding: try JSON.encode(data), as: UTF8.self)
    // Outside of strings, JSON has none of these characters.
    let closed = json.replacing("<", with: "\\u003c").replacing(">", with: "\\u003e")
    text = "<data>\n\(closed)\n</data>"
  }
}
