import Foundation
import Wire

/// The markers of a JPEG file, walked through without decoding anything (ITU-T T.81 Annex B).
struct JPEGOutline {
  /// How often the decoder has to go over the whole picture.
  private(set) var scanCount = 0

  /// A picture of a camera has ten at most. Each costs a pass over all pixels and may be a few bytes long, and the decoder
  /// cannot be stopped between them.
  static let scanCountMax = 100

  /// - Throws: 422 when there is no end to it.
  init(of bytes: UnsafeRawBufferPointer) throws(Failure) {
    var index = 2
    while true {
      guard index + 1 < bytes.count, bytes[index] == 0xFF else { throw .photoUnreadable }
      let marker = bytes[index + 1]
      switch marker {
      case 0xFF: index += 1
      case 0xD9: return
      case 0x01, 0xD0...0xD7: index += 2
      default:
        guard index + 3 < bytes.count else { throw .photoUnreadable }
        let length = Int(bytes[index + 2]) << 8 | Int(bytes[index + 3])
        guard length >= 2 else { throw .photoUnreadable }
        index += 2 + length
        if marker == 0xDA {
          scanCount += 1
          guard let next = Self.marker(in: bytes, from: index) else { throw .photoUnreadable }
          index = next
        }
      }
    }
  }

  /// The next marker that does not belong to the coded data itself.
  private static func marker(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var index = start
    while index < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + index, 0xFF, bytes.count - index)
    {
      let at = UnsafeRawPointer(found) - base
      guard at + 1 < bytes.count else { return nil }
      let next = bytes[at + 1]
      guard next == 0x00 || (0xD0...0xD7).contains(next) else { return at }
      index = at + 2
    }
    return nil
  }
}
