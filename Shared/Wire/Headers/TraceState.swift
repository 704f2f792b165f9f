/// Validates `tracestate` (W3C Trace Context §3.3), which is passed on and not interpreted.
enum TraceState {
  private static let bytesMax = 512
  private static let membersMax = 32

  /// Whether it is a valid list of `key=value` members, of a size that every process must accept.
  static func isValid(_ list: String) -> Bool {
    guard (1...bytesMax).contains(list.utf8.count) else { return false }
    let members = list.split(separator: ",").map { $0.trimmingPrefix { $0 == " " || $0 == "\t" } }.filter {
      !$0.isEmpty
    }
    return (1...membersMax).contains(members.count) && members.allSatisfy { isMember($0) }
  }

  private static func isMember(_ member: Substring) -> Bool {
    let parts = member.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...256).contains(parts[0].utf8.count), !parts[1].isEmpty else { return false }
    return parts[0].utf8.allSatisfy { isKeyByte($0) } && parts[1].utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  private static func isKeyByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
      UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "@"):
      true
    default: false
    }
  }
}
