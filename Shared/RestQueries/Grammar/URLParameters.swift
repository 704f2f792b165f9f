/// The names and values of a URL's query, in their order, decoded.
struct URLParameters {
  let all: [(name: String, value: String)]

  /// - Throws: ``RestFailure`` for escapes that are not UTF-8, and for a query that is too long.
  init(_ text: String) throws {
    guard text.utf8.count <= QueryBounds.textBytesMax else {
      throw RestFailure.tooMuch("bytes", max: QueryBounds.textBytesMax)
    }
    var text = text
    all = try text.withUTF8 { bytes in
      try bytes.split(separator: UInt8(ascii: "&")).compactMap { part in
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (try Self.decoded(part[..<equals]), try Self.decoded(part[(equals + 1)...]))
      }
    }
  }

  /// A plus is a space, as in forms.
  private static func decoded(_ text: Slice<UnsafeBufferPointer<UInt8>>) throws -> String {
    let text = UnsafeBufferPointer(rebasing: text)
    guard let bytes = unescaped(text), let decoded = String(validating: bytes, as: UTF8.self) else {
      throw RestFailure.unparsable(
        "query", String(decoding: text, as: UTF8.self), column: column(ofFailureIn: text),
        "expecting percent-encoded UTF-8")
    }
    guard !bytes.contains(0) else { throw RestFailure.nulInText }
    return decoded
  }

  /// - Returns: nil for an escape without two hexadecimal digits.
  private static func unescaped(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return Array(text) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal) else {
          return nil
        }
        bytes.append(high << 4 | low)
      default: bytes.append(byte)
      }
    }
    return bytes
  }

  /// Where the first escape is that has no two digits, or whose byte is no part of UTF-8.
  private static func column(ofFailureIn text: UnsafeBufferPointer<UInt8>) -> Int {
    var (bytes, columns) = ([UInt8](), [Int]())
    var index = 0
    while index < text.count {
      columns.append(index + 1)
      let isEscape = text[index] == UInt8(ascii: "%")
      if isEscape {
        guard index + 2 < text.count, let high = hexadecimal(text[index + 1]), let low = hexadecimal(text[index + 2])
        else { return index + 1 }
        bytes.append(high << 4 | low)
      } else {
        bytes.append(text[index])
      }
      index += isEscape ? 3 : 1
    }
    var (parser, rest, valid) = (Unicode.UTF8.ForwardParser(), bytes.makeIterator(), 0)
    while case .valid(let scalar) = parser.parseScalar(from: &rest) { valid += scalar.count }
    return columns.indices.contains(valid) ? columns[valid] : text.count + 1
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
