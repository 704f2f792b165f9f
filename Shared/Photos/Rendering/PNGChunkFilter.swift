import Foundation
import Wire

/// Removes all chunks of a PNG file that do not affect its pixels or orientation (PNG §11).
///
/// Text chunks must not reach the decoder: a thousand of eight kilobytes each become eight gigabytes in its memory.
enum PNGChunkFilter {
  private static let kept: Set = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND", "iCCP", "sRGB", "gAMA", "cHRM", "eXIf"]
  /// Chunks of which only the first is kept: the decoder ignores others, but only after it has decompressed them.
  private static let single: Set = ["iCCP", "eXIf"]
  private static let signatureLength = 8

  /// - Throws: 422 for a file without an end chunk.
  static func filtered(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> [UInt8] {
    var filtered: [UInt8] = []
    filtered.reserveCapacity(bytes.count)
    filtered.append(contentsOf: bytes[..<min(signatureLength, bytes.count)])
    var seen: Set<String> = []
    var index = signatureLength
    while index + 12 <= bytes.count {
      let length = bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
      let type = String(decoding: bytes[index + 4..<index + 8], as: UTF8.self)
      guard length <= bytes.count - index - 12 else { break }
      let next = index + 12 + length
      if kept.contains(type), !(single.contains(type) && seen.contains(type)) {
        filtered.append(contentsOf: bytes[index..<next])
      }
      if type == "IEND" { return filtered }
      seen.insert(type)
      index = next
    }
    throw .photoUnreadable
  }
}
