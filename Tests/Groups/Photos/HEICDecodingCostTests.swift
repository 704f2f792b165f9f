import Foundation
import Support
import Testing
import Wire

@testable import Groups
@testable import Photos

/// HEIC files whose headers declare fewer pixels than a decoder must decode.
@Suite struct HEICDecodingCostTests {
  private func pixels(_ data: Data) throws -> Int {
    try Array(data).withUnsafeBytes { try HEICDecodingCost.codedPixelCount(of: $0) }
  }

  private func renditions(_ data: Data) async throws -> Renditions {
    let file = try UploadedFile(in: FileManager.default.temporaryDirectory.path)
    try await file.append(.init(bytes: data))
    return try await PhotoRenderer().renditions(of: file)
  }

  @Test func whatCamerasMakeIsTaken() async throws {
    #expect(try pixels(SamplePhotos.heicWithLocation) == 128 * 64)
    #expect(try pixels(HEIC().data) == 4 * 128 * 64)
    let made = try await renditions(HEIC().data)
    #expect(made.dimensions.width == 256 && made.dimensions.height == 128)
  }

  /// Files as iPhones write them. The gain map is not decoded, but counts as if it were.
  @Test func whatPhonesPutBesideAPictureIsNoObstacle() async throws {
    let photo = HEIC(isFromAPhone: true).data
    #expect(try pixels(photo) == 5 * 128 * 64)
    let (made, plain) = (try await renditions(photo), try await renditions(HEIC().data))
    #expect(made.large == plain.large && made.small == plain.small)
    #expect(made.dimensions.width == 256 && made.dimensions.height == 128)
    #expect(photo.range(of: HEIC.location) != nil && Data(made.large).range(of: HEIC.location) == nil)
    // The gain map may be a grid itself, and its tiles count.
    var heavy = HEIC(isFromAPhone: true)
    heavy.configuration = HEIC.configuration(5000, 5000)
    await #expect(throws: Failure.photoTooManyPixels) { _ = try await renditions(heavy.data) }
  }

  @Test func aHugePlaneOrTooManyTilesAreRefused() async throws {
    var plane = HEIC(columns: 1, rows: 1, plane: (16_380, 16_380))
    plane.shown = (64, 64)
    let tiles = HEIC(columns: 255, rows: 255)
    for bomb in [plane, tiles] {
      #expect(bomb.data.count < 200_000)
      await #expect(throws: Failure.photoTooManyPixels) { _ = try await renditions(bomb.data) }
    }
    #expect(throws: Failure.photoTooManyPixels) { _ = try pixels(HEIC(plane: (1 << 32 - 1, 1 << 32 - 1)).data) }
  }

  @Test func aPictureThatIsLargerThanItSaysIsRefused() async throws {
    let unit = HEIC.sequence(16_000, 16_000)
    let hidden = HEIC.picture + HEIC.bytes(unit.count, 4) + unit
    for bomb in [HEIC(configuration: HEIC.configuration(16_000, 16_000)), HEIC(coded: hidden)] {
      await #expect(throws: Failure.photoTooManyPixels) { _ = try await renditions(bomb.data) }
    }
    let small = HEIC.sequence(128, 64)
    let harmless = HEIC(coded: HEIC.picture + HEIC.bytes(small.count, 4) + small)
    #expect(try pixels(harmless.data) == 4 * 128 * 64)
  }

  @Test func manyPicturesInOneAreRefused() async throws {
    let twice = HEIC(coded: HEIC.picture + HEIC.picture, columns: 1, rows: 1)
    #expect(try pixels(twice.data) == 2 * 128 * 64)
    let often = Data(Array(repeating: HEIC.picture, count: 13_000).joined())
    #expect(often.count < 1_000_000)
    await #expect(throws: Failure.photoTooManyPixels) {
      _ = try await renditions(HEIC(coded: often, columns: 1, rows: 1).data)
    }
  }

  @Test(arguments: ["iovl", "iden", "tmap", "av01"]) func otherKindsOfPicturesAreNotTaken(kind: String) async throws {
    var other = HEIC()
    other.kind = kind
    await #expect(throws: Failure.photoTypeUnsupported) { _ = try await renditions(other.data) }
  }

  /// Arbitrary bytes are parsed without a crash and in bounded time.
  @Test func damagedFilesAreRead() throws {
    var random = SystemRandomNumberGenerator()
    let started = ContinuousClock.now
    var refused = 0
    for file in [SamplePhotos.heicWithLocation, HEIC().data] {
      for end in 0..<file.count { if (try? pixels(file.prefix(end))) == nil { refused += 1 } }
      for _ in 0..<5000 {
        var damaged = file
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          damaged[Int.random(in: 0..<min(700, file.count), using: &random)] =
            [0, 1, 0x7F, 0x80, 0xFF].randomElement() ?? 0
        }
        if (try? pixels(damaged)) == nil { refused += 1 }
      }
    }
    #expect(refused > 1000)
    #expect(ContinuousClock.now - started < .seconds(300))
  }
}
