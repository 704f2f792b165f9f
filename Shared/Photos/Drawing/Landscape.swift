import Crypto
import Foundation

/// A landscape that is drawn from a text: sky, sun or moon, hills, and towers on one of them. The same text gives the
/// same picture on every machine.
package struct Landscape: Sendable {
  package enum Light: Sendable, CaseIterable {
    case dawn, day, dusk, night
  }

  private let seed: UInt64
  private let light: Light

  static let width = 768
  static let height = 432

  /// - Parameters:
  ///   - text: any text; nothing of it can be read in the picture.
  ///   - light: nil leaves it to the text.
  package init(of text: String, light: Light? = nil) {
    let digest = SHA256.hash(data: Data(text.utf8))
    seed = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    self.light = light ?? Light.allCases[Int(seed >> 8 & 3)]
  }

  /// Blocks for some tens of milliseconds.
  func drawn() -> Bitmap {
    var random = SplitMix64(state: seed)
    var picture = Bitmap(width: Self.width, height: Self.height)
    let palette = Palette(light)
    drawSky(palette, on: &picture)
    if light == .night { drawStars(&random, on: &picture) }
    drawDisc(palette, &random, on: &picture)
    let layers = 4
    let withTowers = Int(random.next() % UInt64(layers - 1))
    for layer in 0..<layers {
      let nearness = Float(layer + 1) / Float(layers)
      let color = palette.far.mixed(palette.near, nearness)
      var ridge = Self.ridge(&random, base: 0.45 + 0.13 * Float(layer), roughness: 0.22 - 0.03 * Float(layer))
      if layer == withTowers { Self.addTowers(to: &ridge, &random) }
      drawHills(ridge, color, palette.low.mixed(color, nearness), on: &picture)
    }
    return picture
  }

  private func drawSky(_ palette: Palette, on picture: inout Bitmap) {
    for y in 0..<Self.height {
      let color = palette.high.mixed(palette.low, min(1, Float(y) / (0.7 * Float(Self.height))))
      for x in 0..<Self.width { picture.mix(color, 1, x: x, y: y) }
    }
  }

  private func drawStars(_ random: inout SplitMix64, on picture: inout Bitmap) {
    for _ in 0..<400 {
      let (x, y) = (random.integer(below: Self.width), random.integer(below: Self.height * 6 / 10))
      picture.mix(Color(255, 250, 235), 0.3 + 0.7 * random.unit(), x: x, y: y)
    }
  }

  /// The sun or the moon with its glow.
  private func drawDisc(_ palette: Palette, _ random: inout SplitMix64, on picture: inout Bitmap) {
    let radius = 24 + 22 * random.unit()
    let x = Float(Self.width) * (0.15 + 0.7 * random.unit())
    let y = Float(Self.height) * (light == .dawn || light == .dusk ? 0.38 : 0.12 + 0.15 * random.unit())
    let reach = radius * 5
    for row in max(0, Int(y - reach))..<min(Self.height, Int(y + reach)) {
      for column in max(0, Int(x - reach))..<min(Self.width, Int(x + reach)) {
        let (right, down) = (Float(column) - x, Float(row) - y)
        let distance = (right * right + down * down).squareRoot()
        let glow = max(0, 1 - distance / reach)
        picture.mix(palette.disc, max(0.45 * glow * glow, min(1, radius + 0.5 - distance)), x: column, y: row)
      }
    }
  }

  /// - Parameter ridge: the highest row of the hills in each column.
  private func drawHills(_ ridge: [Int], _ top: Color, _ bottom: Color, on picture: inout Bitmap) {
    for (x, start) in ridge.enumerated() where start < Self.height {
      for y in start..<Self.height {
        picture.mix(top.mixed(bottom, Float(y - start) / Float(Self.height)), 1, x: x, y: y)
      }
    }
  }

  /// The sum of four octaves of value noise.
  private static func ridge(_ random: inout SplitMix64, base: Float, roughness: Float) -> [Int] {
    var heights = [Float](repeating: base, count: width)
    for octave in 0..<4 {
      let points = (0...(3 << octave)).map { _ in random.unit() - 0.5 }
      for x in 0..<width {
        let position = Float(x) / Float(width) * Float(points.count - 1)
        let (index, part) = (Int(position), position - Float(Int(position)))
        let smooth = part * part * (3 - 2 * part)
        let value = points[index] + (points[index + 1] - points[index]) * smooth
        heights[x] += value * roughness / Float(1 << octave)
      }
    }
    return heights.map { max(0, Int($0 * Float(height))) }
  }

  private static func addTowers(to ridge: inout [Int], _ random: inout SplitMix64) {
    for _ in 0..<(3 + random.integer(below: 6)) {
      let (left, breadth) = (random.integer(below: width - 60), 14 + random.integer(below: 40))
      let top = max(0, (ridge[left..<left + breadth].min() ?? 0) - 20 - random.integer(below: 70))
      for x in left..<left + breadth { ridge[x] = min(ridge[x], top + (x % 12 < 6 ? 0 : 5)) }
    }
  }

  private struct Palette {
    /// The sky above and at the horizon, the sun or moon, and hills far away and near.
    let high, low, disc, far, near: Color

    init(_ light: Light) {
      switch light {
      case .dawn:
        (high, low, disc) = (Color(92, 122, 178), Color(250, 196, 160), Color(255, 236, 200))
        (far, near) = (Color(150, 130, 150), Color(42, 50, 52))
      case .day:
        (high, low, disc) = (Color(58, 128, 208), Color(198, 226, 240), Color(255, 252, 224))
        (far, near) = (Color(140, 172, 176), Color(52, 92, 48))
      case .dusk:
        (high, low, disc) = (Color(60, 48, 110), Color(240, 132, 84), Color(255, 206, 120))
        (far, near) = (Color(128, 76, 100), Color(34, 24, 40))
      case .night:
        (high, low, disc) = (Color(8, 12, 36), Color(36, 48, 88), Color(232, 236, 244))
        (far, near) = (Color(30, 40, 68), Color(6, 8, 16))
      }
    }
  }
}

/// A generator of random numbers of which every run gives the same ones (Steele, Lea, Flood 2014).
private struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// From 0 to 1.
  mutating func unit() -> Float { Float(next() >> 40) / Float(1 << 24) }

  mutating func integer(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
