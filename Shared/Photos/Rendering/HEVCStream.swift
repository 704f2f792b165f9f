import Foundation
import Wire

/// Counts the pictures in HEVC units and reads their size (ITU-T H.265 §7.3), which determine a decoder's work.
struct HEVCStream {
  /// The pixels of the largest picture.
  private(set) var pixelsOfPicture = 0
  private(set) var pictureCount = 0

  /// - Parameter unit: one unit of the network abstraction layer (NAL) with its header.
  mutating func read(_ unit: ByteReader) throws(Failure) {
    var reader = unit
    let header = try reader.number(2)
    // Layers above the first are not decoded.
    guard header >> 3 & 0x3F == 0 else { return }
    switch header >> 9 & 0x3F {
    case 0..<32: if !reader.isAtEnd, try reader.number(1) & 0x80 != 0 { pictureCount += 1 }
    case 33: pixelsOfPicture = max(pixelsOfPicture, try Self.pixels(ofSequence: reader))
    default: break
    }
  }

  /// The size in a sequence parameter set (§7.3.2.2).
  private static func pixels(ofSequence set: ByteReader) throws(Failure) -> Int {
    var bits = BitReader(unescaping: set)
    try bits.skip(4)
    let layersAbove = try bits.number(3)
    try bits.skip(1)
    try skipProfile(layersAbove, &bits)
    _ = try bits.exponential()
    if try bits.exponential() == 3 { try bits.skip(1) }
    let (width, height) = (try bits.exponential(), try bits.exponential())
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels > 0 else { throw .photoUnreadable }
    return pixels
  }

  /// Skips profile, tier and level, also those of sub-layers (§7.3.3).
  private static func skipProfile(_ layersAbove: Int, _ bits: inout BitReader) throws(Failure) {
    try bits.skip(96)
    guard layersAbove > 0 else { return }
    var lengths: [Int] = []
    for _ in 0..<layersAbove {
      let present = (profile: try bits.number(1), level: try bits.number(1))
      lengths.append(present.profile * 88 + present.level * 8)
    }
    try bits.skip(2 * (8 - layersAbove))
    for length in lengths { try bits.skip(length) }
  }
}

/// Reads the bits of a unit without its emulation prevention bytes (§7.4.2).
private struct BitReader {
  private var bytes: [UInt8] = []
  private var index = 0
  /// More bytes than precede the size in any valid parameter set.
  private static let lengthMax = 512

  init(unescaping unit: ByteReader) {
    var zeros = 0
    for byte in unit.bytes[unit.range].prefix(Self.lengthMax) {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
  }

  mutating func skip(_ count: Int) throws(Failure) {
    guard count <= bytes.count * 8 - index else { throw .photoUnreadable }
    index += count
  }

  mutating func number(_ count: Int) throws(Failure) -> Int {
    let start = index
    try skip(count)
    return (start..<index).reduce(0) { $0 << 1 | Int(bytes[$1 / 8] >> (7 - $1 % 8) & 1) }
  }

  /// An Exp-Golomb-coded number (§9.2).
  mutating func exponential() throws(Failure) -> Int {
    var length = 0
    while try number(1) == 0 {
      length += 1
      guard length < 32 else { throw .photoUnreadable }
    }
    return (1 << length) - 1 + (try number(length))
  }
}
