import Foundation

/// Encodes text for a mail's header fields, which allow short lines of ASCII only (RFC 5322 §2.2, RFC 2047).
enum HeaderText {
  /// Whether the text has no character that could begin another header field or the body.
  static func isOneLine(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
  }

  /// An unstructured value, such as a subject.
  ///
  /// - Throws: ``MailFailure`` for text that is not one line.
  static func unstructured(_ text: String) throws(MailFailure) -> String {
    guard isOneLine(text) else { throw MailFailure(.malformed) }
    return isPlain(text) ? text : encodedWords(text)
  }

  /// A display name, which stands before an address.
  ///
  /// - Throws: ``MailFailure`` for text that is not one line.
  static func phrase(_ text: String) throws(MailFailure) -> String {
    guard isOneLine(text) else { throw MailFailure(.malformed) }
    guard isPlain(text) else { return encodedWords(text) }
    return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// Whether the text is short, ASCII, and cannot be read as an encoded word.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.count <= 60 && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains("=?")
      && text == text.trimmingCharacters(in: .whitespaces)
  }

  /// With the longest header name in use before it, a line stays within the 76 characters of RFC 2047 §2.
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
