import Foundation

/// What a file is by its first bytes, whatever its name or its sender says.
enum PictureType: Sendable, Hashable {
  case jpeg, png, heic

  /// As many bytes as are looked at.
  static let headLength = 256

  /// nil for everything that is not taken.
  init?(head: some Sequence<UInt8>) {
    let head = Array(head.prefix(Self.headLength))
    if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if Self.brands(in: head).contains(where: Self.heicBrands.contains) {
      self = .heic
    } else {
      return nil
    }
  }

  /// HEVC-coded pictures (ISO/IEC 23008-12 Annex B); AVIF has brands of its own.
  private static let heicBrands: Set = ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"]

  /// The major and the compatible brands of the box that an ISO base media file begins with (ISO/IEC 14496-12 §4.3).
  private static func brands(in head: [UInt8]) -> [String] {
    guard head.count >= 16, head[4..<8].elementsEqual("ftyp".utf8) else { return [] }
    let length = head[0..<4].reduce(0) { $0 << 8 | Int($1) }
    let starts = [8] + Array(stride(from: 16, to: min(length, head.count) - 3, by: 4))
    return starts.map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) }
  }
}
