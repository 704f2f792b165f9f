import Foundation
import Wire

/// Counts the pixels that a decoder must decode for a HEIC file, without decoding (ISO/IEC 23008-12). The header may
/// declare a small image while its tiles, or the canvas of the grid, are huge.
struct HEICDecodingCost {
  /// Twice the limit of the image: tiles may extend beyond its edge, and there may be an alpha plane.
  static let codedPixelsMax = 2 * Vips.pixelsMax

  private let items: HEICItems
  private var codedPixelCount = 0
  private var pixelCounts: [Int: Int] = [:]
  private var bytesLeft: Int

  /// The number of pixels to decode. An item counts as often as it is decoded.
  ///
  /// - Throws: 422 for too many, and for a structure that cameras do not write; 415 for items that are not HEVC-coded.
  static func codedPixelCount(of bytes: UnsafeRawBufferPointer) throws(Failure) -> Int {
    try HEICDecodingCost(of: bytes).codedPixelCount
  }

  private init(of bytes: UnsafeRawBufferPointer) throws(Failure) {
    items = try HEICItems(of: bytes)
    // Items may share bytes, so this may exceed the file, but not without a limit.
    bytesLeft = 2 * bytes.count
    for item in [items.primary] + items.auxiliary { try add(item) }
  }

  private mutating func add(_ item: Int) throws(Failure) {
    guard items.types[item] == "grid" else { return try addCoded(item) }
    try checkCanvas(of: item)
    for tile in items.tiles[item] ?? [] { try addCoded(tile) }
  }

  /// Checks the output size of a grid (§6.6.2.3.2).
  private mutating func checkCanvas(of item: Int) throws(Failure) {
    guard var reader = try data(of: item).first else { throw .photoUnreadable }
    _ = try reader.number(1)
    let length = try reader.number(1) & 1 == 0 ? 2 : 4
    _ = try reader.number(2)
    let (width, height) = (try reader.number(length), try reader.number(length))
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= Vips.pixelsMax else { throw .photoTooManyPixels }
  }

  private mutating func addCoded(_ item: Int) throws(Failure) {
    let (sum, overflow) = codedPixelCount.addingReportingOverflow(try pixels(ofCoded: item))
    guard !overflow, sum <= Self.codedPixelsMax else { throw .photoTooManyPixels }
    codedPixelCount = sum
  }

  private mutating func pixels(ofCoded item: Int) throws(Failure) -> Int {
    if let pixels = pixelCounts[item] { return pixels }
    guard items.types[item] == "hvc1" else { throw .photoTypeUnsupported }
    guard let configuration = items.configurations[item] else { throw .photoUnreadable }
    var stream = HEVCStream()
    try count(configuration)
    try Self.read(configuration, into: &stream)
    for extent in try data(of: item) {
      var rest = extent
      while !rest.isAtEnd { try stream.read(rest.part(rest.number(4))) }
    }
    let (pixels, overflow) = stream.pixelsOfPicture.multipliedReportingOverflow(by: max(1, stream.pictureCount))
    guard pixels > 0 else { throw .photoUnreadable }
    guard !overflow else { throw .photoTooManyPixels }
    pixelCounts[item] = pixels
    return pixels
  }

  /// Reads the parameter sets in a decoder configuration (ISO/IEC 14496-15 §8.3.3.1).
  private static func read(_ configuration: ByteReader, into stream: inout HEVCStream) throws(Failure) {
    var reader = configuration
    _ = try reader.part(22)
    for _ in 0..<(try reader.number(1)) {
      _ = try reader.number(1)
      for _ in 0..<(try reader.number(2)) { try stream.read(reader.part(reader.number(2))) }
    }
  }

  private mutating func data(of item: Int) throws(Failure) -> [ByteReader] {
    guard let extents = items.extents[item] else { throw .photoUnreadable }
    for extent in extents { try count(extent) }
    return extents
  }

  /// Bounds the bytes that are read in all.
  private mutating func count(_ part: ByteReader) throws(Failure) {
    bytesLeft -= part.range.count
    guard bytesLeft >= 0 else { throw .photoUnreadable }
  }
}
