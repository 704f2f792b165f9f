import CVips
import Foundation
import Wire

/// Decodes and encodes images with libvips, within limits of pixels and time. No other file calls its functions, which
/// ``VipsLibrary`` must have loaded.
enum Vips {
  static let pixelsMax = 50_000_000
  private static let quality: Int32 = 82

  static var fileName: String { String(cString: kith_vips_file()) }

  /// Loads the library from a file. Not for two threads at once.
  ///
  /// - Returns: why it cannot be used, after which it may be called again; nil when it can.
  static func start(_ fileName: String) -> String? {
    guard let text = kith_vips_start(fileName, "kith") else { return nil }
    return String(cString: text)
  }

  /// Renders a photo in both sizes: upright, in sRGB, transparency flattened onto white. Blocks.
  ///
  /// - Throws: 422 for a photo that cannot be decoded, takes longer than `timeout`, or has too many pixels, which is
  ///   decided by the header alone.
  static func renditions(
    of bytes: UnsafeRawBufferPointer, as format: ImageFormat, within timeout: Duration
  ) throws -> Renditions {
    switch format {
    case .jpeg:
      guard try JPEGMarkers(of: bytes).scanCount <= JPEGMarkers.scanCountMax else { throw Failure.photoTooSlow }
      return try rendered(bytes, as: format, within: timeout)
    case .png:
      return try PNGChunkFilter.filtered(bytes).withUnsafeBytes { try rendered($0, as: format, within: timeout) }
    case .heic:
      _ = try HEICDecodingCost.codedPixelCount(of: bytes)
      return try rendered(bytes, as: format, within: timeout)
    case .webp: return try rendered(bytes, as: format, within: timeout)
    }
  }

  /// Encodes a picture of at most ``pixelsMax`` pixels, as it was drawn, in both sizes. Blocks.
  static func renditions(of bitmap: Bitmap) throws -> Renditions {
    defer { kith_vips_clear_errors() }
    let image = bitmap.bytes.withUnsafeBytes { bytes in
      kith_vips_bitmap(bytes.baseAddress, bytes.count, Int32(bitmap.width), Int32(bitmap.height))
    }
    return try renditions(of: VipsReference(image))
  }

  private static func rendered(
    _ bytes: UnsafeRawBufferPointer, as format: ImageFormat, within timeout: Duration
  ) throws -> Renditions {
    // The library appends to one error buffer of all threads. It is cleared so that it does not grow; nothing reads it.
    defer { kith_vips_clear_errors() }
    let source = try VipsReference(kith_vips_source(bytes.baseAddress, bytes.count))
    let end = UnsafeMutablePointer<gint64>.allocate(capacity: 1)
    end.initialize(to: kith_vips_microseconds() + gint64(timeout / .microseconds(1)))
    defer { end.deallocate() }

    let reduced = try opened(source, as: format).transformed {
      kith_vips_reduced($0, Int32(PhotoSize.large.rawValue))
    }
    let pixels = reduced.use { reduced in
      kith_vips_ends(reduced, end)
      return kith_vips_computed(reduced)
    }
    guard let pixels else {
      throw kith_vips_microseconds() > end.pointee ? Failure.photoTooSlow : Failure.photoUnreadable
    }
    return try renditions(of: VipsReference(pixels))
  }

  /// - Parameter pixels: decoded, and no larger than the large rendition.
  private static func renditions(of pixels: VipsReference<VipsImage>) throws -> Renditions {
    let large = try flattenedUpright(pixels)
    let small = try large.transformed { kith_vips_reduced($0, Int32(PhotoSize.small.rawValue)) }
    let bytes = try jpeg(large)
    let (width, height) = size(of: large)
    return Renditions(
      large: bytes, small: try jpeg(small),
      dimensions: PhotoDimensions(width: width, height: height, byteCount: bytes.count))
  }

  /// The image, of which only the header has been read.
  private static func opened(
    _ source: VipsReference<VipsSource>, as format: ImageFormat
  ) throws -> VipsReference<VipsImage> {
    switch format {
    case .jpeg:
      let full = try checkPixelCount(of: source.transformed { kith_vips_jpeg($0, 1) })
      let shrink = shrink(full)
      return shrink == 1 ? full : try source.transformed { kith_vips_jpeg($0, shrink) }
    case .png: return try checkPixelCount(of: source.transformed { kith_vips_png($0) })
    case .webp: return try checkPixelCount(of: source.transformed { kith_vips_webp($0) })
    case .heic:
      let image = try checkPixelCount(of: source.transformed { kith_vips_heic($0) })
      guard compression(of: image) == "hevc" else { throw Failure.photoTypeUnsupported }
      return image
    }
  }

  private static func checkPixelCount(of image: VipsReference<VipsImage>) throws -> VipsReference<VipsImage> {
    let (width, height) = size(of: image)
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= pixelsMax else { throw Failure.photoTooManyPixels }
    return image
  }

  private static func size(of image: VipsReference<VipsImage>) -> (width: Int, height: Int) {
    image.use { (Int(kith_vips_width($0)), Int(kith_vips_height($0))) }
  }

  /// The factor by which the JPEG decoder itself shrinks (2, 4 or 8; else 1), such that its output is at least 1.5
  /// times as large as needed: the rest of the reduction has better quality.
  private static func shrink(_ image: VipsReference<VipsImage>) -> Int32 {
    let (width, height) = size(of: image)
    let side = Double(max(width, height))
    return [8, 4, 2].first { side / Double($0) >= 1.5 * Double(PhotoSize.large.rawValue) } ?? 1
  }

  private static func compression(of image: VipsReference<VipsImage>) -> String {
    image.use { image in
      guard let text = kith_vips_heif_compression(image) else { return "" }
      return String(cString: text)
    }
  }

  private static func flattenedUpright(_ pixels: VipsReference<VipsImage>) throws -> VipsReference<VipsImage> {
    var image = pixels
    if image.use({ kith_vips_has_alpha($0) }) != 0 { image = try image.transformed { kith_vips_flattened($0) } }
    image = try image.transformed { kith_vips_in_srgb($0) }
    image = try image.transformed { kith_vips_turned($0) }
    return try image.transformed { kith_vips_computed($0) }
  }

  private static func jpeg(_ image: VipsReference<VipsImage>) throws -> [UInt8] {
    var bytes: UnsafeMutableRawPointer?
    var count = 0
    guard image.use({ kith_vips_jpeg_bytes($0, quality, &bytes, &count) }) == 0, let bytes else {
      throw Failure.photoUnreadable
    }
    defer { kith_vips_free(bytes) }
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}

/// A reference to an object of the library, which is released on `deinit`.
private final class VipsReference<Object> {
  private let pointer: UnsafeMutablePointer<Object>

  /// - Throws: 422 for null, which the library returns on failure.
  init(_ pointer: UnsafeMutablePointer<Object>?) throws(Failure) {
    guard let pointer else { throw .photoUnreadable }
    self.pointer = pointer
  }

  deinit { kith_vips_release(pointer) }

  /// The only access to the object. Keeps it alive until the call has returned, which the compiler does not ensure.
  func use<T>(_ body: (UnsafeMutablePointer<Object>) -> T) -> T { withExtendedLifetime(self) { body(pointer) } }

  /// The object that a call of the library creates from this one.
  func transformed<Other>(
    _ transform: (UnsafeMutablePointer<Object>) -> UnsafeMutablePointer<Other>?
  ) throws(Failure) -> VipsReference<Other> { try VipsReference<Other>(use(transform)) }
}
