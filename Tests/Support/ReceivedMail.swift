import Foundation

/// A message that a ``MailServer`` has received.
package struct ReceivedMail: Sendable {
  package var isEncrypted = false
  package var user: String?
  /// The name in the client's `EHLO`.
  package var greeting = ""
  package var from = ""
  package var to: [String] = []
  /// The message with CRLF line ends, after dot-unstuffing.
  package var source = ""

  /// The text of the part with a content type, `text/plain` or `text/html`; nil when there is none.
  package func part(_ type: String) -> String? {
    guard let start = source.range(of: "Content-Type: \(type);"),
      let body = source.range(of: "\r\n\r\n", range: start.upperBound..<source.endIndex)
    else { return nil }
    let end = source.range(of: "\r\n--=_", range: body.upperBound..<source.endIndex)?.lowerBound ?? source.endIndex
    return Self.decoded(source[body.upperBound..<end])
  }

  /// The value of a header field.
  package func header(_ name: String) -> String? {
    let head = source.range(of: "\r\n\r\n").map { source[..<$0.lowerBound] } ?? source[...]
    let unfolded = head.replacingOccurrences(of: "\r\n ", with: " ")
    return unfolded.components(separatedBy: "\r\n").first { $0.hasPrefix(name + ": ") }
      .map { String($0.dropFirst(name.count + 2)) }
  }

  /// Decodes quoted-printable text.
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.replacingOccurrences(of: "=\r\n", with: "").utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "="), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else {
        bytes.append(byte)
        continue
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
  }
}

extension ReceivedMail {
  package init(source: String) {
    self.init()
    self.source = source
  }
}
