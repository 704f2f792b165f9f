import Foundation

/// Builds valid and invalid PNG files.
struct PNG {
  private(set) var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])

  /// Incompressible noise: three bytes for each pixel, one more for each row.
  static func noise(_ width: Int, _ height: Int, chunks: [(String, Data)] = []) -> Data {
    var rows = Data(capacity: height * (3 * width + 1))
    var state: UInt32 = 1
    for _ in 0..<height {
      rows.append(0)
      for _ in 0..<3 * width {
        state = state &* 1_664_525 &+ 1_013_904_223
        rows.append(UInt8(truncatingIfNeeded: state >> 24))
      }
    }
    return image(width, height, rows: rows, chunks: chunks)
  }

  static func image(_ width: Int, _ height: Int, rows: Data, chunks: [(String, Data)] = []) -> Data {
    var png = PNG()
    png.add("IHDR", bigEndian(width) + bigEndian(height) + Data([8, 2, 0, 0, 0]))
    for (type, content) in chunks { png.add(type, content) }
    png.add("IDAT", stored(rows))
    png.add("IEND", Data())
    return png.data
  }

  mutating func add(_ type: String, _ content: Data) {
    let body = Data(type.utf8) + content
    data += Self.bigEndian(content.count) + body + Self.bigEndian(Int(Self.checksum(body)))
  }

  private static func bigEndian(_ number: Int) -> Data {
    Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
  }

  /// A zlib stream of stored blocks (RFC 1950, RFC 1951 §3.2.4).
  private static func stored(_ data: Data) -> Data {
    var stream = Data([0x78, 0x01])
    var left = data[...]
    repeat {
      let block = left.prefix(65_535)
      left = left.dropFirst(65_535)
      let length = [UInt8(truncatingIfNeeded: block.count), UInt8(truncatingIfNeeded: block.count >> 8)]
      stream += [left.isEmpty ? 1 : 0] + length + length.map { ~$0 } + block
    } while !left.isEmpty
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in data {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return stream + bigEndian(Int(high << 16 | low))
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  private static func checksum(_ data: Data) -> UInt32 {
    ~data.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
  }
}
