import Foundation

/// The format of an image, detected from its first bytes and not from a file name or content type.
package enum ImageFormat: Sendable, Hashable {
  case jpeg, png, heic, webp

  /// How many bytes are needed for the detection.
  package static let headLength = 256

  /// nil for a format that is not supported.
  package init?(head: some Sequence<UInt8>) {
    let head = Array(head.prefix(Self.headLength))
    if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if head.count >= 16, head.starts(with: Array("RIFF".utf8)), head[8..<12].elementsEqual("WEBP".utf8) {
      self = .webp
    } else if Self.brands(in: head).contains(where: Self.heicBrands.contains) {
      self = .heic
    } else {
      return nil
    }
  }

  /// The brands of HEVC-coded images (ISO/IEC 23008-12 Annex B); AVIF has others.
  private static let heicBrands: Set = ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"]

  /// The major and compatible brands in the first box of an ISO base media file (ISO/IEC 14496-12 §4.3).
  private static func brands(in head: [UInt8]) -> [String] {
    guard head.count >= 16, head[4..<8].elementsEqual("ftyp".utf8) else { return [] }
    let length = head[0..<4].reduce(0) { $0 << 8 | Int($1) }
    let starts = [8] + Array(stride(from: 16, to: min(length, head.count) - 3, by: 4))
    return starts.map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) }
  }
}
