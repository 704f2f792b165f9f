/// The value of `Host` (RFC 9112 §3.2): a name or an address, and a port if need be. No user, no list, no blanks.
enum HostField {
  static func check(_ bytes: Span<UInt8>, _ value: Slice) throws(Refusal) {
    guard (1...255).contains(value.count) else { throw .malformed }
    let nameEnd =
      bytes[value.start] == UInt8(ascii: "[")
      ? try addressEnd(bytes, value) : try nameEnd(bytes, value)
    guard nameEnd < value.end else { return }
    guard bytes[nameEnd] == UInt8(ascii: ":") else { throw .malformed }
    try checkPort(bytes, nameEnd + 1, value.end)
  }

  /// Labels of letters, digits, hyphens and underscores, none of them empty but for a dot at the end.
  private static func nameEnd(_ bytes: Span<UInt8>, _ value: Slice) throws(Refusal) -> Int {
    var index = value.start
    var labelStart = index
    while index < value.end, bytes[index] != UInt8(ascii: ":") {
      if bytes[index] == UInt8(ascii: ".") {
        guard index > labelStart else { throw .malformed }
        labelStart = index + 1
      } else {
        guard bytes[index].isOfName || bytes[index] == UInt8(ascii: "_") else { throw .malformed }
      }
      index += 1
    }
    guard index > value.start else { throw .malformed }
    return index
  }

  /// An IPv6 address in brackets: hexadecimal groups and colons, with an IPv4 address behind them if need be.
  private static func addressEnd(_ bytes: Span<UInt8>, _ value: Slice) throws(Refusal) -> Int {
    var index = value.start + 1
    var colons = 0
    while index < value.end, bytes[index] != UInt8(ascii: "]") {
      if bytes[index] == UInt8(ascii: ":") {
        colons += 1
      } else {
        guard bytes[index].hexDigit != nil || bytes[index] == UInt8(ascii: ".") else { throw .malformed }
      }
      index += 1
    }
    guard index < value.end, (2...7).contains(colons) else { throw .malformed }
    return index + 1
  }

  private static func checkPort(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) throws(Refusal) {
    guard (1...5).contains(end - start) else { throw .malformed }
    var port = 0
    for index in start..<end {
      guard bytes[index].isDigit else { throw .malformed }
      port = port * 10 + Int(bytes[index] &- 0x30)
    }
    guard (1...65_535).contains(port) else { throw .malformed }
  }
}
