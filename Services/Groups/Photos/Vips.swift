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

    let seen = try Held(kith_vips_reduced(opened(source, as: type).pointer, Int32(PhotoSize.large.rawValue)))
    kith_vips_ends(seen.pointer, end)
    guard let pixels = vips_image_copy_memory(seen.pointer) else {
      throw g_get_monotonic_time() > end.pointee ? Failure.photoTooSlow : Failure.photoUnreadable
    }
    let large = try upright(Held(pixels))
    let small = try Held(kith_vips_reduced(large.pointer, Int32(PhotoSize.small.rawValue)))
    let bytes = try jpeg(large)
    return Renditions(
      large: bytes, small: try jpeg(small),
      measures: PhotoMeasures(
        width: Int(vips_image_get_width(large.pointer)), height: Int(vips_image_get_height(large.pointer)),
        byteCount: bytes.count))
  }

  /// The picture, of which only the header has been read.
  private static func opened(_ source: Held<VipsSource>, as type: PictureType) throws -> Held<VipsImage> {
    switch type {
    case .jpeg:
      let whole = try measured(Held(kith_vips_jpeg(source.pointer, 1)))
      let shrink = shrink(whole)
      return shrink == 1 ? whole : try Held(kith_vips_jpeg(source.pointer, shrink))
    case .png: return try measured(Held(kith_vips_png(source.pointer)))
    case .heic:
      let picture = try measured(Held(kith_vips_heic(source.pointer)))
      guard compression(of: picture) == "hevc" else { throw Failure.photoTypeUnsupported }
      return picture
    }
  }

  private static func measured(_ picture: Held<VipsImage>) throws -> Held<VipsImage> {
    let (width, height) = (vips_image_get_width(picture.pointer), vips_image_get_height(picture.pointer))
    let (pixels, overflow) = Int(width).multipliedReportingOverflow(by: Int(height))
    guard !overflow, pixels <= pixelsMax else { throw Failure.photoTooManyPixels }
    return picture
  }

  /// How much of a JPEG the decoder may leave out by itself (to a half, a quarter, an eighth), so that at least half as
  /// many pixels again are left as are needed: what is left is reduced with more care.
  private static func shrink(_ picture: Held<VipsImage>) -> Int32 {
    let side = Double(max(vips_image_get_width(picture.pointer), vips_image_get_height(picture.pointer)))
    return [8, 4, 2].first { side / Double($0) >= 1.5 * Double(PhotoSize.large.rawValue) } ?? 1
  }

  private static func compression(of picture: Held<VipsImage>) -> String {
    var text: UnsafePointer<CChar>?
    guard vips_image_get_string(picture.pointer, "heif-compression", &text) == 0, let text else { return "" }
    return String(cString: text)
  }

  private static func upright(_ pixels: Held<VipsImage>) throws -> Held<VipsImage> {
    var image = pixels
    if vips_image_hasalpha(image.pointer) != 0 { image = try Held(kith_vips_flattened(image.pointer)) }
    image = try Held(kith_vips_in_srgb(image.pointer))
    image = try Held(kith_vips_turned(image.pointer))
    return try Held(vips_image_copy_memory(image.pointer))
  }

  private static func jpeg(_ image: Held<VipsImage>) throws -> [UInt8] {
    var bytes: UnsafeMutableRawPointer?
    var count = 0
    guard kith_vips_jpeg_bytes(image.pointer, quality, &bytes, &count) == 0, let bytes else {
      throw Failure.photoUnreadable
    }
    defer { g_free(bytes) }
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}

/// One of the library's objects, let go of with this.
private final class Held<Object> {
  let pointer: UnsafeMutablePointer<Object>

  /// - Throws: 422 for the null with which the library says that it could not.
  init(_ pointer: UnsafeMutablePointer<Object>?) throws(Failure) {
    guard let pointer else { throw .photoUnreadable }
    self.pointer = pointer
  }

  deinit { g_object_unref(pointer) }
}
