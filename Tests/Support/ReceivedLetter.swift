import Foundation

/// What a ``MailServer`` was sent.
package struct ReceivedLetter: Sendable {
  package var isEncrypted = false
  package var user: String?
  /// By which name the client greeted.
  package var greeting = ""
  package var from = ""
  package var to: [String] = []
  /// As it came, lines ended by CRLF, dots no longer stuffed.
  package var source = ""

  /// The words of the part of a type, `text/plain` or `text/html`. nil when there is none.
  package func part(_ type: String) -> String? {
    guard let start = source.range(of: "Content-Type: \(type);"),
      let body = source.range(of: "\r\n\r\n", range: start.upperBound..<source.endIndex)
    else { return nil }
    let end = source.range(of: "\r\n--=_", range: body.upperBound..<source.endIndex)?.lowerBound ?? source.endIndex
    return Self.decoded(source[body.upperBound..<end])
  }

  /// What the line of a header says.
  package func header(_ name: String) -> String? {
    let head = source.range(of: "\r\n\r\n").map { source[..<$0.lowerBound] } ?? source[...]
    let unfolded = head.replacingOccurrences(of: "\r\n ", with: " ")
    return unfolded.components(separatedBy: "\r\n").first { $0.hasPrefix(name + ": ") }
      .map { String($0.dropFirst(name.count + 2)) }
  }

  /// Quoted-printable text as it was.
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

extension ReceivedLetter {
  package init(source: String) {
    self.init()
    self.source = source
  }
}
