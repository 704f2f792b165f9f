/// A picture in memory: rows of pixels of three bytes, red, green and blue.
struct Bitmap: Sendable {
  let width: Int
  let height: Int
  private(set) var bytes: [UInt8]

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    bytes = Array(repeating: 0, count: width * height * 3)
  }

  /// Mixes a colour into a pixel. A pixel beyond the edges is ignored.
  ///
  /// - Parameter share: 0 leaves the pixel, 1 replaces it.
  mutating func mix(_ color: Color, _ share: Float, x: Int, y: Int) {
    guard x >= 0, x < width, y >= 0, y < height else { return }
    let at = (y * width + x) * 3
    bytes[at] = Self.mixed(bytes[at], color.red, share)
    bytes[at + 1] = Self.mixed(bytes[at + 1], color.green, share)
    bytes[at + 2] = Self.mixed(bytes[at + 2], color.blue, share)
  }

  private static func mixed(_ from: UInt8, _ to: Float, _ share: Float) -> UInt8 {
    UInt8(max(0, min(255, Float(from) * (1 - share) + to * share)))
  }
}

/// A colour with parts from 0 to 255.
struct Color: Sendable {
  let red, green, blue: Float

  init(_ red: Float, _ green: Float, _ blue: Float) { (self.red, self.green, self.blue) = (red, green, blue) }

  func mixed(_ other: Color, _ share: Float) -> Color {
    Color(
      red + (other.red - red) * share, green + (other.green - green) * share, blue + (other.blue - blue) * share)
  }
}
