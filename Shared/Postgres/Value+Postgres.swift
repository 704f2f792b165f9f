import CPostgres
import Database

/// Converts the text of a field of a libpq result to the representation that both engines share.
extension BorrowedValue {
  /// Calls `body` with the value. Most texts are not copied.
  static func make(of text: UnsafeBufferPointer<UInt8>, _ type: Oid, _ body: (BorrowedValue) -> Void) {
    switch type {
    case 20, 21, 23: body(number(text).map(BorrowedValue.integer) ?? .text(text))  // int8, int2, int4
    case 16: body(.integer(text.first == UInt8(ascii: "t") ? 1 : 0))  // bool
    case 17: unhex(text.dropFirst(2)).withUnsafeBufferPointer { body(.bytes($0)) }  // bytea, "\x…"
    case 1184: withTime(text) { body(.text($0)) }  // timestamptz
    default: body(.text(text))
    }
  }

  /// Nothing is larger than 64 bits.
  private static func number(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    var number: Int64 = 0
    for digit in text.dropFirst(isNegative ? 1 : 0) {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      // Below zero, where there is one number more.
      number = number &* 10 &- Int64(digit - UInt8(ascii: "0"))
    }
    return isNegative ? number : -number
  }

  private static func unhex(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      let nibble = digit & 0xF &+ (digit > 0x39 ? 9 : 0)
      if let first = high {
        bytes.append(first << 4 | nibble)
        high = nil
      } else {
        high = nibble
      }
    }
    return bytes
  }

  /// `2026-11-21 08:15:30.5+00`, as PostgreSQL writes it in UTC, with the `T` and `Z` of RFC 3339.
  private static func withTime(_ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    let end = text.count - 3
    guard end > 10, text[10] == UInt8(ascii: " "), text[end] == UInt8(ascii: "+"), text[end + 1] == UInt8(ascii: "0"),
      text[end + 2] == UInt8(ascii: "0")
    else { return body(text) }
    withUnsafeTemporaryAllocation(byteCount: end + 1, alignment: 1) { time in
      time.copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[..<end]))
      time[10] = UInt8(ascii: "T")
      time[end] = UInt8(ascii: "Z")
      body(UnsafeBufferPointer(time.assumingMemoryBound(to: UInt8.self)))
    }
  }
}

extension Value {
  init(_ text: UnsafeBufferPointer<UInt8>, _ type: Oid) {
    var value = Value.null
    BorrowedValue.make(of: text, type) { borrowed in
      switch borrowed {
      case .null: break
      case .integer(let number): value = .integer(number)
      case .text(let text): value = .text(String(decoding: text, as: UTF8.self))
      case .bytes(let bytes): value = .bytes(Array(bytes))
      }
    }
    self = value
  }
}
