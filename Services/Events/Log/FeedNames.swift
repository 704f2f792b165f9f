/// What producers may call topics and events. Bytes are compared, as a regular expression is built for each use: that took
/// a fifth of storing an event.
enum FeedNames {
  /// `[a-z][a-z_]{0,31}:[A-Za-z0-9_-]{1,64}`
  static func isTopic(_ text: String) -> Bool {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let (kind, id) = (text.utf8[..<colon], text.utf8[colon...].dropFirst())
    guard (1...32).contains(kind.count), let first = kind.first, isLowercase(first) else { return false }
    return kind.allSatisfy { isLowercase($0) || $0 == UInt8(ascii: "_") } && (1...64).contains(id.count)
      && id.allSatisfy { isLowercase($0) || isUppercase($0) || isDigit($0) || "_-".utf8.contains($0) }
  }

  /// `[a-z][a-z0-9_]{0,63}`
  static func isEvent(_ text: String) -> Bool {
    guard (1...64).contains(text.utf8.count), let first = text.utf8.first, isLowercase(first) else { return false }
    return text.utf8.allSatisfy { isLowercase($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
  }

  private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
  private static func isUppercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
