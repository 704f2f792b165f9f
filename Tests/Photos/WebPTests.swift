import Foundation
import Support
import Testing
import Wire

@testable import Photos

/// WebP files, which providers of pictures send. Phones do not, so uploads are not accepted in this format.
@Suite struct WebPTests {
  private let renderer = PhotoRenderer(formats: [.jpeg, .png, .webp])

  /// 64 × 32 pixels, left half red, right half blue, with EXIF data.
  private static let picture = decoded(
    "UklGRmoAAABXRUJQVlA4WAoAAAAIAAAAPwAAHwAAVlA4TBoAAAAvP8AHAA8Q87//8x8OxILJ/KVD6I3of1TBN0VYSUYqAAAATU0AKgAA"
      + "AAgAAQEPAAIAAAAQAAAAGgAAAABLSVRIU0VDUkVUTUFLRVIA")

  /// 16,000 × 4,000 pixels of one colour.
  private static let huge = decoded("UklGRh4AAABXRUJQVlA4TBEAAAAvf/7nAwfQhCY0of+BiOh/AAA=")

  private static func decoded(_ text: String) -> [UInt8] { Data(base64Encoded: text).map(Array.init) ?? [] }

  @Test func providersMaySendIt() async throws {
    let made = try await renderer.renditions(of: Self.picture)
    #expect(made.dimensions.width == 64 && made.dimensions.height == 32)
    #expect(made.large.starts(with: [0xFF, 0xD8, 0xFF]))
    #expect(Data(Self.picture).range(of: Data("KITHSECRET".utf8)) != nil)
    #expect(Data(made.large).range(of: Data("KITHSECRET".utf8)) == nil)
    await #expect(throws: Failure.photoTypeUnsupported) { _ = try await PhotoRenderer().renditions(of: Self.picture) }
    await #expect(throws: Failure.photoTypeUnsupported) {
      _ = try await renderer.renditions(of: Array(SamplePhotos.heicWithLocation))
    }
  }

  @Test func whatIsTooLargeOrCutOffIsRefused() async throws {
    await #expect(throws: Failure.photoTooManyPixels) { _ = try await renderer.renditions(of: Self.huge) }
    for length in [16, 30, 50, 60] {
      await #expect(throws: Failure.photoUnreadable) {
        _ = try await renderer.renditions(of: Array(Self.picture.prefix(length)))
      }
    }
  }
}
