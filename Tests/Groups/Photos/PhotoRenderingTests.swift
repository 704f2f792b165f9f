import Foundation
import Support
import Testing
import Wire

@testable import Groups
@testable import Photos

/// The renditions of photos, and the limits of rendering.
@Suite struct PhotoRenderingTests {
  private func renditions(_ data: Data) async throws -> [Data] {
    let made = try await Self.renderer.renditions(of: Self.file(data))
    return [Data(made.large), Data(made.small)]
  }

  private static let renderer = PhotoRenderer()

  private static func file(_ data: Data) async throws -> UploadedFile {
    let file = try UploadedFile(in: FileManager.default.temporaryDirectory.path)
    try await file.append(.init(bytes: data))
    return file
  }

  /// The markers of a JPEG file up to its pixels.
  private func markers(_ jpeg: Data) -> [UInt8] {
    let bytes = Array(jpeg)
    var (index, markers) = (2, [UInt8]())
    while index + 3 < bytes.count, bytes[index] == 0xFF {
      markers.append(bytes[index + 1])
      if bytes[index + 1] == 0xDA { break }
      index += 2 + Int(bytes[index + 2]) << 8 + Int(bytes[index + 3])
    }
    return markers
  }

  @Test(arguments: [SamplePhotos.jpegWithLocation, SamplePhotos.heicWithLocation, pngWithLocation])
  func nothingSaysWhereAPhotoWasTaken(photo: Data) async throws {
    for secret in SamplePhotos.secrets { #expect(photo.range(of: secret) != nil) }
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      #expect(try await alice.send(photo, to: group).status == 200)
      let sent = try #require(try await alice.today(group).first)
      for name in ["url", "thumbnail_url"] {
        let served = try await stack.gateway.get(stack.path(sent[name])).body
        for secret in SamplePhotos.secrets { #expect(served.range(of: secret) == nil) }
        // Only the JFIF header, tables, frame and scan: no application data, no comment.
        #expect(Set(markers(served)).isSubset(of: [0xE0, 0xDB, 0xC0, 0xC4, 0xDA]), "\(markers(served))")
        #expect(markers(served).last == 0xDA)
      }
    }
  }

  /// A PNG file with the same EXIF data and a text chunk.
  static let pngWithLocation: Data = {
    let jpeg = SamplePhotos.jpegWithLocation
    let start = jpeg.range(of: Data("Exif\0\0".utf8))?.upperBound ?? jpeg.startIndex
    let exif = Data(jpeg[start...].prefix(600))
    return PNG.noise(40, 30, chunks: [("eXIf", exif), ("tEXt", Data("Author\0KITHSECRETTEXT".utf8))])
  }()

  @Test(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: what Pillow sees in photos was not asked"))
  func photosAreUprightSmallAndInSRGB() async throws {
    let program = """
      import base64, io
      from PIL import Image
      for line in sys.stdin:
        image = Image.open(io.BytesIO(base64.b64decode(line)))
        image.load()
        pixel = image.getpixel((image.width // 4, image.height // 4))
        print(image.format, image.mode, *image.size, *pixel, len(image.getexif()), sorted(image.info))
      """
    func seen(_ photo: Data) async throws -> [[Substring]] {
      let input = try await renditions(photo).map { $0.base64EncodedString() }.joined(separator: "\n")
      return try await Python.run(program, input: input).split(separator: "\n").map { $0.split(separator: " ") }
    }
    for photo in [SamplePhotos.jpeg, SamplePhotos.jpegWithLocation, SamplePhotos.heicWithLocation] {
      let large = try #require(try await seen(photo).first)
      #expect(large[0...3] == ["JPEG", "RGB", "128", "48"] && large[7] == "0", "\(large)")
      let colour = large[4...6].compactMap { Int($0) }
      #expect(zip(colour, [200, 40, 40]).allSatisfy { abs($0 - $1) < 12 }, "\(colour)")
    }
    let turned = try #require(try await seen(SamplePhotos.turnedJPEG).first)
    #expect(turned[2...3] == ["48", "128"])
    let red = try #require(try await seen(SamplePhotos.wideColourJPEG).first)
    let colour = red[4...6].compactMap { Int($0) }
    #expect(zip(colour, [255, 0, 0]).allSatisfy { abs($0 - $1) < 6 }, "\(colour)")
    let sizes = try await seen(PNG.noise(1500, 1200)).map { Array($0[2...3]) }
    #expect(sizes == [["1080", "864"], ["320", "256"]])
  }

  /// Bytes of other formats inside a photo or after its end are not in the renditions.
  @Test func whatIsHiddenInAPhotoIsNotServed() async throws {
    let page = Data("<script>alert('KITHSECRET')</script>".utf8)
    for photo in [
      SamplePhotos.jpeg + page, PNG.noise(40, 30, chunks: [("zzZz", page)]) + page,
      SamplePhotos.heicWithLocation + page,
    ] {
      for made in try await renditions(photo) { #expect(made.range(of: Data("KITHSECRET".utf8)) == nil) }
    }
  }

  @Test func hugePicturesAreRefusedByTheirHeaders() async throws {
    var png = PNG()
    png.add("IHDR", Data([0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60, 1, 0, 0, 0, 0]))
    png.add("IDAT", Data([0x78, 1]))
    png.add("IEND", Data())
    for bomb in [png.data, try #require(SamplePhotos.huge)] {
      await #expect(throws: Failure.photoTooManyPixels) { _ = try await renditions(bomb) }
    }
  }

  /// Decompressed by a decoder these texts take two gigabytes and half a minute.
  @Test func textsAreNotUnpacked() async throws {
    let program = """
      import base64, zlib
      print(base64.b64encode(zlib.compress(b'a' * 7_900_000, 9)).decode())
      """
    let packed = try #require(
      Data(base64Encoded: try await Python.run(program).trimmingCharacters(in: .whitespacesAndNewlines)))
    let texts = (0..<300).map { ("zTXt", Data("k\($0)\0\0".utf8) + packed) }
    let bomb = PNG.noise(40, 30, chunks: texts)
    #expect(bomb.count > 2_000_000 && bomb.count < UploadedFile.bytesMax)
    let isQuick = try await isDone(within: .seconds(5)) {
      let made = try await renditions(bomb)
      #expect(made.count == 2)
    }
    #expect(isQuick)
  }

  /// Each scan of a progressive file is a pass over the whole picture, and may be a few bytes long.
  @Test func endlessScansAreRefused() async throws {
    #expect(try await renditions(progressive(scans: 20)).count == 2)
    await #expect(throws: Failure.photoTooSlow) { _ = try await renditions(progressive(scans: 200)) }
  }

  private func progressive(scans: Int) -> Data {
    func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
      [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
    }
    let table: [UInt8] = [1] + Array(repeating: 0, count: 15)
    var bytes: [UInt8] = [0xFF, 0xD8] + segment(0xDB, [0] + Array(repeating: 1, count: 64))
    // 64 × 64 pixels, one component; every code has one bit.
    bytes += segment(0xC2, [8, 0, 64, 0, 64, 1, 1, 0x11, 0])
    bytes += segment(0xC4, [0x00] + table + [0]) + segment(0xC4, [0x10] + table + [0x00])
    bytes += segment(0xDA, [1, 1, 0, 0, 0, 0]) + Array(repeating: 0, count: 8)
    let scan = segment(0xDA, [1, 1, 0, 1, 63, 0]) + Array(repeating: 0, count: 8)
    return Data(bytes + Array(repeating: scan, count: scans).joined() + [0xFF, 0xD9])
  }

  @Test func aRendererThatIsBusyTurnsAway() async throws {
    let renderer = PhotoRenderer(countMax: 2)
    let photo = PNG.noise(1500, 1200)
    let outcomes = try await atOnce(12) { _ in
      do { return try await renderer.renditions(of: Self.file(photo)).small.isEmpty ? 0 : 1 } catch let busy as Failure
        where busy == .photosBusy
      { return 2 }
    }
    #expect(outcomes.contains(1) && outcomes.contains(2) && !outcomes.contains(0))
    #expect(try await renderer.renditions(of: Self.file(photo)).large.isEmpty == false)
  }

  @Test func whatTakesTooLongIsGivenUp() async throws {
    let renderer = PhotoRenderer(timeout: .milliseconds(1))
    await #expect(throws: Failure.photoTooSlow) {
      _ = try await renderer.renditions(of: Self.file(PNG.noise(1800, 1700)))
    }
  }
}
