import CPostgres
import Database

/// Converts a field of a libpq result to the representation that both engines share.
extension Value {
  init(_ result: OpaquePointer?, _ row: Int32, _ column: Int32, _ type: Oid) {
    guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else {
      self = .null
      return
    }
    let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
    self =
      switch type {
      case 20, 21, 23: Self.number(bytes)  // int8, int2, int4
      case 16: .integer(bytes.first == UInt8(ascii: "t") ? 1 : 0)  // bool
      case 17: .bytes(Self.unhex(bytes.dropFirst(2)))  // bytea, "\x…"
      case 1184: .text(Self.time(bytes))  // timestamptz
      default: .text(String(decoding: bytes, as: UTF8.self))
      }
  }

  private static func number(_ bytes: UnsafeRawBufferPointer) -> Value {
    let text = String(decoding: bytes, as: UTF8.self)
    return Int64(text).map(Value.integer) ?? .text(text)
  }

  private static func unhex(_ digits: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
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
  private static func time(_ bytes: UnsafeRawBufferPointer) -> String {
    guard bytes.count > 13, bytes[10] == UInt8(ascii: " "), bytes.suffix(3).elementsEqual("+00".utf8) else {
      return String(decoding: bytes, as: UTF8.self)
    }
    let length = bytes.count - 2
    return String(unsafeUninitializedCapacity: length) { text in
      for index in 0..<length { text.initializeElement(at: index, to: bytes[index]) }
      text[10] = UInt8(ascii: "T")
      text[length - 1] = UInt8(ascii: "Z")
      return length
    }
  }
}
