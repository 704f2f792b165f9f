import Foundation

/// Builds HEIC files of equal tiles, also such as no camera would make.
struct HEIC {
  /// A picture of 128 × 64 pixels, which alone is one unit, and how a decoder is told of it.
  static let picture = ending(of: Pictures.heicWithPlace, "mdat", 70)
  static let configuration = ending(of: Pictures.heicWithPlace, "hvcC", 0x77 - 8)

  var coded = HEIC.picture
  var configuration = HEIC.configuration
  /// How often the one tile is laid, next to and below each other.
  var columns = 2
  var rows = 2
  /// The plane on which tiles are laid, and what the header says of it.
  var plane = (width: 256, height: 128)
  var shown = (width: 256, height: 128)
  var kind = "grid"

  var data: Data {
    let head = Self.box("ftyp", Data("heic\0\0\0\0mif1heic".utf8))
    let start = head.count + meta(at: 0).count + 8
    return head + meta(at: start) + Self.box("mdat", coded)
  }

  private func meta(at start: Int) -> Data {
    let grid =
      Data([0, 1, UInt8(rows - 1), UInt8(columns - 1)]) + Self.bytes(plane.width, 4) + Self.bytes(plane.height, 4)
    let place = { (item: Int, method: Int, offset: Int, count: Int) in
      Self.bytes(item, 2) + Self.bytes(method, 2) + Self.bytes(0, 2) + Self.bytes(1, 2) + Self.bytes(offset, 4)
        + Self.bytes(count, 4)
    }
    let locations = Data([0x44, 0]) + Self.bytes(2, 2) + place(1, 0, start, coded.count) + place(2, 1, 0, grid.count)
    let kinds = Self.bytes(2, 2) + item(1, "hvc1") + item(2, kind)
    let associations = Self.bytes(2, 4) + Data([0, 1, 3, 0x81, 2, 4]) + Data([0, 2, 2, 3, 4])
    let references =
      Self.bytes(2, 2) + Self.bytes(rows * columns, 2)
      + Data((0..<rows * columns).flatMap { _ in [UInt8(0), 1] })
    let boxes: [Data] = [
      Self.full("hdlr", Data("\0\0\0\0pict".utf8) + Data(count: 13)), Self.full("pitm", Self.bytes(2, 2)),
      Self.box("idat", grid), Self.full("iloc", version: 1, locations), Self.full("iinf", kinds),
      Self.box("iprp", properties + Self.full("ipma", associations)), Self.full("iref", Self.box("dimg", references)),
    ]
    return Self.full("meta", Data(boxes.joined()))
  }

  private var properties: Data {
    let boxes: [Data] = [
      Self.box("hvcC", configuration), Self.full("ispe", Self.bytes(128, 4) + Self.bytes(64, 4)),
      Self.full("ispe", Self.bytes(shown.width, 4) + Self.bytes(shown.height, 4)),
      Self.full("pixi", Data([3, 8, 8, 8])),
    ]
    return Self.box("ipco", Data(boxes.joined()))
  }

  private func item(_ id: Int, _ kind: String) -> Data {
    Self.full("infe", version: 2, Self.bytes(id, 2) + Self.bytes(0, 2) + Data("\(kind)\0".utf8))
  }

  /// A sequence parameter set for pictures of this size.
  static func sequence(_ width: Int, _ height: Int) -> Data {
    func code(_ number: Int) -> String {
      let binary = String(number + 1, radix: 2)
      return String(repeating: "0", count: binary.count - 1) + binary
    }
    // One layer, a profile of sorts, set 0, halved colours.
    var bits = "0000" + "000" + "1" + String(repeating: "01", count: 48) + code(0) + code(1)
    bits += code(width) + code(height) + String(repeating: "10", count: 20)
    let digits = Array(bits)
    let bytes = stride(from: 0, to: digits.count - 7, by: 8).map { UInt8(String(digits[$0..<$0 + 8]), radix: 2) ?? 0 }
    return Data([0x42, 0x01] + bytes)
  }

  /// What tells a decoder of pictures of this size.
  static func configuration(_ width: Int, _ height: Int) -> Data {
    let sequence = sequence(width, height)
    return Data([1]) + Data(count: 21) + Data([1, 0xA1, 0, 1]) + bytes(sequence.count, 2) + sequence
  }

  static func bytes(_ number: Int, _ count: Int) -> Data {
    Data((0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
  }

  private static func box(_ type: String, _ content: Data) -> Data {
    bytes(content.count + 8, 4) + Data(type.utf8) + content
  }

  private static func full(_ type: String, version: UInt8 = 0, _ content: Data) -> Data {
    box(type, Data([version, 0, 0, 0]) + content)
  }

  private static func ending(of file: Data, _ mark: String, _ count: Int) -> Data {
    guard let found = file.range(of: Data(mark.utf8)) else { return Data() }
    return Data(file[found.upperBound...].prefix(count))
  }
}
