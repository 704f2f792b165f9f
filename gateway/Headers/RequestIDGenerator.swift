import NIOCore
import StrictHTTP

/// Chooses the id under which a request is logged in all processes: the client's, if it is valid, or a new one.
struct RequestIDGenerator {
  /// Ids have to be unique, not secret: SplitMix64 with a random seed is sufficient and fast.
  private var state = UInt64.random(in: .min ... .max)

  /// Writes the client's id to `id` if it is valid, else a new one.
  mutating func acceptOrMake(_ head: RequestHead, _ bytes: Span<UInt8>, into id: inout [UInt8]) {
    guard let field = head.fields.first(.requestID), Self.isValid(bytes, field.value) else { return make(into: &id) }
    id.removeAll(keepingCapacity: true)
    for index in field.value.start..<field.value.end { id.append(bytes[index]) }
  }

  /// 32 hexadecimal digits.
  mutating func make(into id: inout [UInt8]) {
    id.removeAll(keepingCapacity: true)
    for _ in 0..<2 {
      var word = next()
      for _ in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: word & 0xF)
        id.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        word >>= 4
      }
    }
  }

  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// 1 to 128 letters, digits, `-`, `_` and `.`: nothing that could break a log line or a header field.
  private static func isValid(_ bytes: Span<UInt8>, _ value: HeadSlice) -> Bool {
    guard (1...128).contains(value.count) else { return false }
    for index in value.start..<value.end {
      switch bytes[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        continue
      default: return false
      }
    }
    return true
  }
}
