import Support
import Testing
import Wire

@testable import Photos

/// Landscapes, which are drawn from a text.
@Suite struct LandscapeTests {
  @Test func theSameTextIsTheSamePicture() async throws {
    let renderer = PhotoRenderer()
    let first = try await renderer.renditions(of: Landscape(of: "The Senate, 44 BCE"))
    let again = try await renderer.renditions(of: Landscape(of: "The Senate, 44 BCE"))
    let other = try await renderer.renditions(of: Landscape(of: "The Senate, 45 BCE"))
    #expect(first.large == again.large && first.small == again.small)
    #expect(first.large != other.large)
    #expect(first.dimensions.width == 768 && first.dimensions.height == 432)
    #expect(first.dimensions.byteCount == first.large.count && first.small.count < first.large.count)
    // Not one colour: a JPEG of nothing has a few thousand bytes.
    #expect(first.large.count > 8_000)
  }

  @Test(arguments: Landscape.Light.allCases) func theLightIsSeen(light: Landscape.Light) {
    let sky = Landscape(of: "a", light: light).drawn().bytes.prefix(3 * Landscape.width)
    let brightness = sky.reduce(0) { $0 + Int($1) } / sky.count
    #expect(light == .night ? brightness < 60 : brightness > 60, "\(brightness)")
  }

  @Test(arguments: 0..<8) func anyTextIsDrawn(number: Int) {
    let picture = Landscape(of: String(repeating: "ü", count: number) + "\(number)").drawn()
    #expect(picture.bytes.count == Landscape.width * Landscape.height * 3)
    #expect(Set(picture.bytes).count > 20)
  }
}
