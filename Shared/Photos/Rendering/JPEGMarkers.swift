import Foundation
import Wire

/// Counts the scans of a JPEG file from its markers, without decoding (ITU-T T.81 Annex B).
struct JPEGMarkers {
  /// How many passes over the whole image the decoder makes.
  private(set) var scanCount = 0

  /// Photos of cameras have at most ten. A scan may be a few bytes long, but each costs a pass over all pixels, and the
  /// decoder cannot be stopped between scans.
  static let scanCountMax = 100

  /// - Throws: 422 for invalid markers and for a file without an end marker.
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

  /// The next marker that is not part of the coded data (stuffed bytes and restart markers).
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
