import NIOCore

extension ByteBuffer {
  /// Writes a number in decimal digits without allocating a String.
  package mutating func writeDecimal(_ number: Int) {
    guard number > 9 else {
      writeInteger(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: max(number, 0)))
      return
    }
    var divisor = 10
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      writeInteger(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number / divisor % 10))
      divisor /= 10
    }
  }

  /// Writes the size line of a chunk (RFC 9112 §7.1).
  package mutating func writeChunkSize(_ size: Int) {
    var shift = 60
    while shift > 0, size >> shift == 0 { shift -= 4 }
    while shift >= 0 {
      let digit = UInt8(truncatingIfNeeded: size >> shift) & 0xF
      writeInteger(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      shift -= 4
    }
    writeStaticString("\r\n")
  }
}
