import Foundation
import Wire

/// What a decoder has to do for a HEIC file, found without decoding anything (ISO/IEC 23008-12): its header may promise a
/// small picture, while its tiles, or the plane on which they are laid, are huge.
struct HEICOutline {
  /// Tiles go over the edge, and there may be a plane of transparency.
  static let codedPixelsMax = 2 * Vips.pixelsMax

  private let items: HEICItems
  private var codedPixelCount = 0
  private var known: [Int: Int] = [:]
  private var bytesLeft: Int

  /// The pixels of everything that is decoded, once for each time that it is.
  ///
  /// - Throws: 422 for too many, and for what is put together in another way than cameras do it; 415 for what is not coded
  ///   as HEVC.
  static func codedPixelCount(of bytes: UnsafeRawBufferPointer) throws(Failure) -> Int {
    try HEICOutline(of: bytes).codedPixelCount
  }

  private init(of bytes: UnsafeRawBufferPointer) throws(Failure) {
    items = try HEICItems(of: bytes)
    // Items may share their bytes.
    bytesLeft = 2 * bytes.count
    for item in [items.primary] + items.auxiliary { try add(item) }
  }

  private mutating func add(_ item: Int) throws(Failure) {
    guard items.types[item] == "grid" else { return try addCoded(item) }
    try checkPlane(of: item)
    for tile in items.tiles[item] ?? [] { try addCoded(tile) }
  }

  /// §6.6.2.3.2.
  private mutating func checkPlane(of item: Int) throws(Failure) {
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
    if let pixels = known[item] { return pixels }
    guard items.types[item] == "hvc1" else { throw .photoTypeUnsupported }
    guard let configuration = items.configurations[item] else { throw .photoUnreadable }
    var stream = HEVCStream()
    try spend(configuration)
    try Self.read(configuration, into: &stream)
    for extent in try data(of: item) {
      var rest = extent
      while !rest.isAtEnd { try stream.read(rest.part(rest.number(4))) }
    }
    let (pixels, overflow) = stream.pixelsOfPicture.multipliedReportingOverflow(by: max(1, stream.pictureCount))
    guard pixels > 0 else { throw .photoUnreadable }
    guard !overflow else { throw .photoTooManyPixels }
    known[item] = pixels
    return pixels
  }

  /// The parameter sets in a decoder's configuration (ISO/IEC 14496-15 §8.3.3.1).
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
    for extent in extents { try spend(extent) }
    return extents
  }

  private mutating func spend(_ part: ByteReader) throws(Failure) {
    bytesLeft -= part.range.count
    guard bytesLeft >= 0 else { throw .photoUnreadable }
  }
}
