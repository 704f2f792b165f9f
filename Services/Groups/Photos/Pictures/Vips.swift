import CVips
import Foundation
import Wire

/// The two pictures that are kept of a photo, as JPEG files without any metadata.
struct Renditions: Sendable {
  let large: [UInt8]
  let small: [UInt8]
  let measures: PhotoMeasures

  subscript(size: PhotoSize) -> [UInt8] { size == .large ? large : small }
}

/// How large the larger of the two is.
struct PhotoMeasures: Sendable, Hashable {
  let width: Int
  let height: Int
  let byteCount: Int
}

/// Decodes and writes pictures with libvips, under limits. No other file speaks to it.
enum Vips {
  static let pixelsMax = 50_000_000
  private static let quality: Int32 = 82

  /// Whether the library has started: with the three decoders that photos need and no other, one thread for each picture,
  /// and nothing kept in memory.
  private static let hasStarted: Bool = {
    guard kith_vips_start("kith") == 0 else { return false }
    vips_operation_block_set("VipsForeignLoad", 1)
    for decoder in ["Jpeg", "Png", "Heif"] { vips_operation_block_set("VipsForeignLoad\(decoder)", 0) }
    vips_concurrency_set(1)
    vips_cache_set_max(0)
    vips_cache_set_max_mem(0)
    vips_cache_set_max_files(0)
    return true
  }()

  /// The photo turned upright, in sRGB, on white where one could see through it, in both sizes. Blocks for as long as
  /// it takes.
  ///
  /// - Throws: 422 for what cannot be decoded, has too many pixels, which the header alone decides, or takes longer than
  ///   `limit`.
  static func renditions(
    of bytes: UnsafeRawBufferPointer, as type: PictureType, within limit: Duration
  ) throws -> Renditions {
    guard hasStarted else { throw Failure.broken }
    switch type {
    case .jpeg:
      guard try JPEGOutline(of: bytes).scanCount <= JPEGOutline.scanCountMax else { throw Failure.photoTooSlow }
      return try rendered(bytes, as: type, within: limit)
    case .png: return try PNGOutline.reduced(bytes).withUnsafeBytes { try rendered($0, as: type, within: limit) }
    case .heic:
      _ = try HEICOutline.codedPixelCount(of: bytes)
      return try rendered(bytes, as: type, within: limit)
    }
  }

  private static func rendered(
    _ bytes: UnsafeRawBufferPointer, as type: PictureType, within limit: Duration
  ) throws -> Renditions {
    // Taken out, so that it does not grow, and read by nobody: it is one for all threads.
    defer { vips_error_clear() }
    let source = try Held(vips_source_new_from_memory(bytes.baseAddress, bytes.count))
    let end = UnsafeMutablePointer<gint64>.allocate(capacity: 1)
    end.initialize(to: g_get_monotonic_time() + gint64(limit / .microseconds(1)))
    defer { end.deallocate() }

    let seen = try opened(source, as: type).made { kith_vips_reduced($0, Int32(PhotoSize.large.rawValue)) }
    let pixels = seen.use { seen in
      kith_vips_ends(seen, end)
      return vips_image_copy_memory(seen)
    }
    guard let pixels else {
      throw g_get_monotonic_time() > end.pointee ? Failure.photoTooSlow : Failure.photoUnreadable
    }
    let large = try upright(Held(pixels))
    let small = try large.made { kith_vips_reduced($0, Int32(PhotoSize.small.rawValue)) }
    let bytes = try jpeg(large)
    let (width, height) = size(of: large)
    return Renditions(
      large: bytes, small: try jpeg(small),
      measures: PhotoMeasures(width: width, height: height, byteCount: bytes.count))
  }

  /// The picture, of which only the header has been read.
  private static func opened(_ source: Held<VipsSource>, as type: PictureType) throws -> Held<VipsImage> {
    switch type {
    case .jpeg:
      let whole = try measured(source.made { kith_vips_jpeg($0, 1) })
      let shrink = shrink(whole)
      return shrink == 1 ? whole : try source.made { kith_vips_jpeg($0, shrink) }
    case .png: return try measured(source.made { kith_vips_png($0) })
    case .heic:
      let picture = try measured(source.made { kith_vips_heic($0) })
      guard compression(of: picture) == "hevc" else { throw Failure.photoTypeUnsupported }
      return picture
    }
  }

  private static func measured(_ picture: Held<VipsImage>) throws -> Held<VipsImage> {
    let (width, height) = size(of: picture)
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= pixelsMax else { throw Failure.photoTooManyPixels }
    return picture
  }

  private static func size(of picture: Held<VipsImage>) -> (width: Int, height: Int) {
    picture.use { (Int(vips_image_get_width($0)), Int(vips_image_get_height($0))) }
  }

  /// How much of a JPEG the decoder may leave out by itself (to a half, a quarter, an eighth), so that at least half as
  /// many pixels again are left as are needed: what is left is reduced with more care.
  private static func shrink(_ picture: Held<VipsImage>) -> Int32 {
    let (width, height) = size(of: picture)
    let side = Double(max(width, height))
    return [8, 4, 2].first { side / Double($0) >= 1.5 * Double(PhotoSize.large.rawValue) } ?? 1
  }

  private static func compression(of picture: Held<VipsImage>) -> String {
    picture.use { picture in
      var text: UnsafePointer<CChar>?
      guard vips_image_get_string(picture, "heif-compression", &text) == 0, let text else { return "" }
      return String(cString: text)
    }
  }

  private static func upright(_ pixels: Held<VipsImage>) throws -> Held<VipsImage> {
    var image = pixels
    if image.use({ vips_image_hasalpha($0) }) != 0 { image = try image.made { kith_vips_flattened($0) } }
    image = try image.made { kith_vips_in_srgb($0) }
    image = try image.made { kith_vips_turned($0) }
    return try image.made { vips_image_copy_memory($0) }
  }

  private static func jpeg(_ image: Held<VipsImage>) throws -> [UInt8] {
    var bytes: UnsafeMutableRawPointer?
    var count = 0
    guard image.use({ kith_vips_jpeg_bytes($0, quality, &bytes, &count) }) == 0, let bytes else {
      throw Failure.photoUnreadable
    }
    defer { g_free(bytes) }
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}

/// One of the library's objects, let go of with this.
private final class Held<Object> {
  private let pointer: UnsafeMutablePointer<Object>

  /// - Throws: 422 for the null with which the library says that it could not.
  init(_ pointer: UnsafeMutablePointer<Object>?) throws(Failure) {
    guard let pointer else { throw .photoUnreadable }
    self.pointer = pointer
  }

  deinit { g_object_unref(pointer) }

  /// The only way to the object: it must not go before the call that it is for has ended, which Swift cannot know.
  func use<T>(_ body: (UnsafeMutablePointer<Object>) -> T) -> T { withExtendedLifetime(self) { body(pointer) } }

  /// What the library makes of it.
  func made<Other>(
    _ make: (UnsafeMutablePointer<Object>) -> UnsafeMutablePointer<Other>?
  ) throws(Failure) -> Held<Other> { try Held<Other>(use(make)) }
}
