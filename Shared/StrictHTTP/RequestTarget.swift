/// Validates the request target: origin form only (RFC 9112 §3.2.1), and only spellings that all programs interpret
/// alike.
enum RequestTarget {
  /// The index of the space that ends the target, or nil when it has not arrived yet.
  static func end(_ bytes: Span<UInt8>, from start: Int) throws(HTTPParseError) -> Int? {
    let limit = min(bytes.count, start + HTTPLimits.targetBytesMax)
    var index = start
    while index + 8 <= limit, bytes.areVisible(at: index) { index += 8 }
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 0x20 {
        guard index > start else { throw .malformed }
        return index
      }
      guard byte > 0x20, byte < 0x7F else { throw .malformed }
      guard index - start < HTTPLimits.targetBytesMax else { throw .targetTooLong }
      index += 1
    }
    return nil
  }

  /// - Returns: the end of the path.
  static func check(_ bytes: Span<UInt8>, _ target: HeadSlice) throws(HTTPParseError) -> Int {
    guard bytes[target.start] == UInt8(ascii: "/") else { throw .malformed }
    var pathEnd = target.end
    var isPlain = true
    for index in target.start..<target.end where bytes[index].hasMeaningInTarget {
      switch bytes[index] {
      case UInt8(ascii: "?"):
        if pathEnd == target.end { pathEnd = index }
      case UInt8(ascii: "/"):
        guard index == target.start || bytes[index - 1] != UInt8(ascii: "/") || pathEnd < index else {
          throw .malformed
        }
      case UInt8(ascii: "."), UInt8(ascii: "%"): isPlain = false
      default: throw .malformed
      }
    }
    if !isPlain { try checkPercentEncoding(bytes, target, pathEnd) }
    return pathEnd
  }

  /// Checks the decoded path, and also what decoding it a second time would give, as a careless service might.
  private static func checkPercentEncoding(
    _ bytes: Span<UInt8>, _ target: HeadSlice, _ pathEnd: Int
  ) throws(HTTPParseError) {
    var index = target.start
    var segment: [UInt8] = []
    while index < target.end {
      var byte = bytes[index]
      let isInPath = index < pathEnd
      if byte == UInt8(ascii: "%") {
        byte = try decodedByte(bytes, index, target.end)
        guard byte != 0 else { throw .malformed }
        if isInPath { try checkDecodedByte(byte, bytes, after: index + 3, pathEnd) }
        index += 2
      } else if byte == UInt8(ascii: "/"), isInPath {
        try checkSegment(segment)
        segment.removeAll(keepingCapacity: true)
        index += 1
        continue
      }
      if isInPath { segment.append(byte) }
      index += 1
    }
    try checkSegment(segment)
  }

  private static func decodedByte(_ bytes: Span<UInt8>, _ index: Int, _ end: Int) throws(HTTPParseError) -> UInt8 {
    guard index + 2 < end, let high = bytes[index + 1].hexDigitValue, let low = bytes[index + 2].hexDigitValue else {
      throw .malformed
    }
    return high << 4 | low
  }

  /// A decoded byte must not be a slash, a backslash or a control character, nor a percent sign that begins an escape
  /// of NUL, a dot, a slash, a backslash or a percent sign.
  private static func checkDecodedByte(
    _ byte: UInt8, _ bytes: Span<UInt8>, after index: Int, _ end: Int
  ) throws(HTTPParseError) {
    guard byte >= 0x20, byte != 0x7F, byte != UInt8(ascii: "/"), byte != UInt8(ascii: "\\") else { throw .malformed }
    guard byte == UInt8(ascii: "%"), index + 1 < end, let high = bytes[index].hexDigitValue,
      let low = bytes[index + 1].hexDigitValue
    else { return }
    switch high << 4 | low {
    case 0, UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "%"): throw .malformed
    default: break
    }
  }

  /// A segment must not be a dot segment, nor one with a parameter (`..;x`), because some programs remove parameters.
  private static func checkSegment(_ segment: [UInt8]) throws(HTTPParseError) {
    let name = segment.prefix { $0 != UInt8(ascii: ";") }
    guard !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) else { throw .malformed }
  }
}

extension Span<UInt8> {
  /// Whether the eight bytes from `index` on are visible ASCII.
  fileprivate func areVisible(at index: Int) -> Bool {
    let word = bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
    let isBelow = (word &- 0x2121_2121_2121_2121) & ~word
    let delete = word ^ 0x7F7F_7F7F_7F7F_7F7F
    let isDelete = (delete &- 0x0101_0101_0101_0101) & ~delete
    return (isBelow | isDelete | word) & 0x8080_8080_8080_8080 == 0
  }
}

extension UInt8 {
  /// Whether a visible character separates, escapes, or is not allowed in a target. Most are letters and digits.
  fileprivate var hasMeaningInTarget: Bool {
    switch self {
    case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
      true
    default: false
    }
  }
}
