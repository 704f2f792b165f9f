/// Writes PNG files (ISO/IEC 15948) without compression, which small pictures do not need.
enum PNGFile {
  /// - Parameter rows: for each row a byte for the filter, and its pixels of one bit each, padded to a byte.
  static func bitmap(width: Int, height: Int, rows: [UInt8]) -> [UInt8] {
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    // One bit for each pixel, grey; deflate, adaptive filters, not interlaced.
    file += chunk("IHDR", bigEndian(width) + bigEndian(height) + [1, 0, 0, 0, 0])
    file += chunk("IDAT", stored(rows))
    file += chunk("IEND", [])
    return file
  }

  private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let named = Array(type.utf8) + content
    return bigEndian(content.count) + named + bigEndian(Int(crc32(named)))
  }

  /// A zlib stream of stored blocks (RFC 1950, RFC 1951 §3.2.4).
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    let blockMax = 65_535
    for start in stride(from: 0, to: bytes.count, by: blockMax) {
      let block = bytes[start..<min(start + blockMax, bytes.count)]
      let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
      stream += [start + block.count == bytes.count ? 1 : 0, low, high, ~low, ~high]
      stream += block
    }
    return stream + bigEndian(Int(adler32(bytes)))
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return high << 16 | low
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { crc, byte in crcTable[Int((crc ^ UInt32(byte)) & 0xFF)] ^ (crc >> 8) }
  }

  private static let crcTable: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }
}
