import Foundation

/// Base64url without padding (RFC 4648 §5). Only the canonical encoding is accepted: no two strings decode to the same
/// bytes.
package enum Base64URL {
  package static func encode(_ bytes: some Sequence<UInt8>) -> String { Array(bytes).withUnsafeBytes(encode) }

  package static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
      var count = 0
      var buffer: UInt32 = 0
      var bits: UInt32 = 0
      func append(_ value: UInt32) {
        text[count] = alphabet[Int(value & 0x3F)]
        count += 1
      }
      for byte in bytes {
        buffer = buffer << 8 | UInt32(byte)
        bits += 8
        while bits >= 6 {
          bits -= 6
          append(buffer >> bits)
        }
      }
      if bits > 0 { append(buffer << (6 - bits)) }
      return count
    }
  }

  /// nil for padding, characters outside the alphabet, an impossible length, or trailing bits that are not zero.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? { decode(Array(text)) }

  private static func decode(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var buffer: UInt32 = 0
    var bits = 0
    for character in text {
      let value = values[Int(character)]
      guard value < 64 else { return nil }
      buffer = (buffer << 6 | UInt32(value)) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
      }
    }
    return buffer & ((1 << UInt32(bits)) - 1) == 0 ? bytes : nil
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()
}
