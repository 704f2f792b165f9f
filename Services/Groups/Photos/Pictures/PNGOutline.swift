import Foundation
import Wire

/// A PNG file with only the chunks that say what it looks like (PNG §11).
///
/// Texts are dropped before the decoder sees them: a thousand of eight kilobytes become eight gigabytes in its memory.
enum PNGOutline {
  private static let kept: Set = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND", "iCCP", "sRGB", "gAMA", "cHRM", "eXIf"]
  /// A second one is dropped, as the decoder would ignore it, but only after it had unpacked it.
  private static let single: Set = ["iCCP", "eXIf"]
  private static let signatureLength = 8

  /// - Throws: 422 when there is no end to it.
  static func reduced(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> [UInt8] {
    var reduced: [UInt8] = []
    reduced.reserveCapacity(bytes.count)
    reduced.append(contentsOf: bytes[..<min(signatureLength, bytes.count)])
    var seen: Set<String> = []
    var index = signatureLength
    while index + 12 <= bytes.count {
      let length = bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
      let type = String(decoding: bytes[index + 4..<index + 8], as: UTF8.self)
      guard length <= bytes.count - index - 12 else { break }
      let next = index + 12 + length
      if kept.contains(type), !(single.contains(type) && seen.contains(type)) {
        reduced.append(contentsOf: bytes[index..<next])
      }
      if type == "IEND" { return reduced }
      seen.insert(type)
      index = next
    }
    throw .photoUnreadable
  }
}
