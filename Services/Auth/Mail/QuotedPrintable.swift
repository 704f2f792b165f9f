/// Encodes text as quoted-printable: lines of at most 76 ASCII characters (RFC 2045 §6.7).
enum QuotedPrintable {
  /// Line endings of every kind become CRLF.
  static func encode(_ text: String) -> String {
    lines(of: text).map(encode).joined(separator: "\r\n")
  }

  private static func lines(of text: String) -> [[UInt8]] {
    var lines: [[UInt8]] = [[]]
    var wasReturn = false
    for byte in text.utf8 {
      let isReturn = byte == UInt8(ascii: "\r")
      if isReturn || byte == UInt8(ascii: "\n") {
        if !(wasReturn && !isReturn) { lines.append([]) }
      } else {
        lines[lines.count - 1].append(byte)
      }
      wasReturn = isReturn
    }
    return lines
  }

  private static let widthMax = 76

  private static func encode(_ line: [UInt8]) -> String {
    var encoded = ""
    var width = 0
    for (index, byte) in line.enumerated() {
      let isLast = index == line.count - 1
      let piece = isLiteral(byte, isLast: isLast) ? String(UnicodeScalar(byte)) : escaped(byte)
      // The last column is for the `=` of a soft line break.
      if width + piece.utf8.count > widthMax - (isLast ? 0 : 1) {
        encoded += "=\r\n"
        width = 0
      }
      encoded += piece
      width += piece.utf8.count
    }
    return encoded
  }

  /// Spaces and tabs at the end of a line are encoded: they may be removed in transit.
  private static func isLiteral(_ byte: UInt8, isLast: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "="): false
    case UInt8(ascii: " "), UInt8(ascii: "\t"): !isLast
    default: (0x21...0x7E).contains(byte)
    }
  }

  private static func escaped(_ byte: UInt8) -> String {
    let hex = String(byte, radix: 16, uppercase: true)
    return "=" + (hex.utf8.count == 1 ? "0" : "") + hex
  }
}
