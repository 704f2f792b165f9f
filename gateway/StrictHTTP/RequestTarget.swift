/// The target of a request: origin form only (RFC 9112 §3.2.1), and only spellings that no two programs read differently.
enum RequestTarget {
  /// The space that ends the target, or nil when it has not come yet.
  static func end(_ bytes: Span<UInt8>, from start: Int) throws(Refusal) -> Int? {
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 0x20 {
        guard index > start else { throw .malformed }
        return index
      }
      guard byte > 0x20, byte < 0x7F else { throw .malformed }
      guard index - start < Limits.targetBytesMax else { throw .targetTooLong }
      index += 1
    }
    return nil
  }

  /// - Returns: where the path ends.
  static func check(_ bytes: Span<UInt8>, _ target: Slice) throws(Refusal) -> Int {
    guard bytes[target.start] == UInt8(ascii: "/") else { throw .malformed }
    var pathEnd = target.end
    var isPlain = true
    var previous: UInt8 = 0
    var index = target.start
    while index < target.end {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "?"):
        if pathEnd == target.end { pathEnd = index }
      case UInt8(ascii: "/"): guard previous != byte || pathEnd < index else { throw .malformed }
      case UInt8(ascii: "."), UInt8(ascii: "%"): isPlain = false
      case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
        UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"), UInt8(ascii: "#"):
        throw .malformed
      default: break
      }
      previous = byte
      index += 1
    }
    if !isPlain { try checkEscapes(bytes, target, pathEnd) }
    return pathEnd
  }

  /// Decodes the path as a service would, and once more as a careless one would.
  private static func checkEscapes(_ bytes: Span<UInt8>, _ target: Slice, _ pathEnd: Int) throws(Refusal) {
    var index = target.start
    var segment: [UInt8] = []
    while index < target.end {
      var byte = bytes[index]
      let isInPath = index < pathEnd
      if byte == UInt8(ascii: "%") {
        byte = try escaped(bytes, index, target.end)
        guard byte != 0 else { throw .malformed }
        if isInPath { try checkEscaped(byte, bytes, after: index + 3, pathEnd) }
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

  private static func escaped(_ bytes: Span<UInt8>, _ index: Int, _ end: Int) throws(Refusal) -> UInt8 {
    guard index + 2 < end, let high = bytes[index + 1].hexDigit, let low = bytes[index + 2].hexDigit else {
      throw .malformed
    }
    return high << 4 | low
  }

  /// No slash, backslash or control character, and no percent sign that begins another such escape.
  private static func checkEscaped(
    _ byte: UInt8, _ bytes: Span<UInt8>, after index: Int, _ end: Int
  ) throws(Refusal) {
    guard byte >= 0x20, byte != 0x7F, byte != UInt8(ascii: "/"), byte != UInt8(ascii: "\\") else { throw .malformed }
    guard byte == UInt8(ascii: "%"), index + 1 < end, let high = bytes[index].hexDigit,
      let low = bytes[index + 1].hexDigit
    else { return }
    switch high << 4 | low {
    case 0, UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "%"): throw .malformed
    default: break
    }
  }

  /// Not a dot segment, also not with a parameter behind it (`..;x`), which some programs cut off.
  private static func checkSegment(_ segment: [UInt8]) throws(Refusal) {
    let name = segment.prefix { $0 != UInt8(ascii: ";") }
    guard !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) else { throw .malformed }
  }
}
