/// Validates the value of `Host` (RFC 9112 §3.2): a name or an address and an optional port; no user information, no
/// list, no whitespace.
enum HostField {
  static func check(_ bytes: Span<UInt8>, _ value: HeadSlice) throws(HTTPParseError) {
    guard (1...255).contains(value.count) else { throw .malformed }
    let nameEnd =
      bytes[value.start] == UInt8(ascii: "[")
      ? try addressEnd(bytes, value) : try nameEnd(bytes, value)
    guard nameEnd < value.end else { return }
    guard bytes[nameEnd] == UInt8(ascii: ":") else { throw .malformed }
    try checkPort(bytes, nameEnd + 1, value.end)
  }

  /// Labels of letters, digits, hyphens and underscores. None is empty, but a dot may end the name.
  private static func nameEnd(_ bytes: Span<UInt8>, _ value: HeadSlice) throws(HTTPParseError) -> Int {
    var index = value.start
    var labelStart = index
    while index < value.end, bytes[index] != UInt8(ascii: ":") {
      if bytes[index] == UInt8(ascii: ".") {
        guard index > labelStart else { throw .malformed }
        labelStart = index + 1
      } else {
        guard bytes[index].isFieldNameByte || bytes[index] == UInt8(ascii: "_") else { throw .malformed }
      }
      index += 1
    }
    guard index > value.start else { throw .malformed }
    return index
  }

  /// An IPv6 address in brackets: hexadecimal groups and colons, optionally followed by an IPv4 address.
  private static func addressEnd(_ bytes: Span<UInt8>, _ value: HeadSlice) throws(HTTPParseError) -> Int {
    var index = value.start + 1
    var colons = 0
    while index < value.end, bytes[index] != UInt8(ascii: "]") {
      if bytes[index] == UInt8(ascii: ":") {
        colons += 1
      } else {
        guard bytes[index].hexDigitValue != nil || bytes[index] == UInt8(ascii: ".") else { throw .malformed }
      }
      index += 1
    }
    guard index < value.end, (2...7).contains(colons) else { throw .malformed }
    return index + 1
  }

  private static func checkPort(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) throws(HTTPParseError) {
    guard (1...5).contains(end - start) else { throw .malformed }
    var port = 0
    for index in start..<end {
      guard bytes[index].isDigit else { throw .malformed }
      port = port * 10 + Int(bytes[index] &- 0x30)
    }
    guard (1...65_535).contains(port) else { throw .malformed }
  }
}
