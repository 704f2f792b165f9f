import Foundation

/// People's words in a mail's header, where only short lines of ASCII may stand (RFC 5322 §2.2, RFC 2047).
enum HeaderText {
  /// Whether it has no character with which another header, or the body, could begin.
  static func isOneLine(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
  }

  /// - Throws: ``MailFailure`` for what is not one line.
  static func unstructured(_ text: String) throws(MailFailure) -> String {
    guard isOneLine(text) else { throw MailFailure(.malformed) }
    return isPlain(text) ? text : encodedWords(text)
  }

  /// A name before an address.
  ///
  /// - Throws: ``MailFailure`` for what is not one line.
  static func phrase(_ text: String) throws(MailFailure) -> String {
    guard isOneLine(text) else { throw MailFailure(.malformed) }
    guard isPlain(text) else { return encodedWords(text) }
    return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// Short, ASCII, and nothing that could be taken for an encoded word.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.count <= 60 && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains("=?")
      && text == text.trimmingCharacters(in: .whitespaces)
  }

  /// With the longest of our headers' names before it, a line stays within the 76 characters of RFC 2047 §2.
  private static let wordBytesMax = 39

  private static func encodedWords(_ text: String) -> String {
    var words: [[UInt8]] = [[]]
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if words[words.count - 1].count + bytes.count > wordBytesMax { words.append([]) }
      words[words.count - 1] += bytes
    }
    return words.map { "=?UTF-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\r\n ")
  }
}
