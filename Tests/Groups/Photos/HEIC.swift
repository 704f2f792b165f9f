import Foundation
import Support

/// Builds HEIC files of equal tiles, also ones that no camera would write.
struct HEIC {
  /// The coded data of a picture of 128 × 64 pixels, one unit, and its decoder configuration.
  static let picture = ending(of: SamplePhotos.heicWithLocation, "mdat", 70)
  static let configuration = ending(of: SamplePhotos.heicWithLocation, "hvcC", 0x77 - 8)

  var coded = HEIC.picture
  var configuration = HEIC.configuration
  /// The size of the grid in tiles, which are all the same item.
  var columns = 2
  var rows = 2
  /// The canvas of the grid, and the size that the header declares.
  var plane = (width: 256, height: 128)
  var shown = (width: 256, height: 128)
  var kind = "grid"

  /// Adds the items that iPhones write beside the picture: a thumbnail, a gain map, the tone-mapped derivation of both,
  /// and Exif.
  var isFromAPhone = false

  /// The content of the Exif and tone-map items, which nothing reads.
  static let location = Data("where it was taken".utf8)

  var data: Data {
    let head = Self.box("ftyp", Data("heic\0\0\0\0mif1heic\(isFromAPhone ? "tmap" : "")".utf8))
    let start = head.count + meta(at: 0).count + 8
    return head + meta(at: start) + Self.box("mdat", coded + Self.location)
  }

  /// The items of the file: the tile, the grid, and those that phones add.
  private var items: [(id: Int, kind: String, properties: [UInt8])] {
    let picture: [(Int, String, [UInt8])] = [(1, "hvc1", [0x81, 2]), (2, kind, [3, 4])]
    guard isFromAPhone else { return picture }
    return picture + [(3, "hvc1", [0x81, 2]), (4, "hvc1", [0x81, 2, 0x85]), (5, "Exif", []), (6, "tmap", [3, 4])]
  }

  private func meta(at start: Int) -> Data {
    let grid =
      Data([0, 1, UInt8(rows - 1), UInt8(columns - 1)]) + Self.bytes(plane.width, 4) + Self.bytes(plane.height, 4)
    let locations = items.map { item in
      let (method, offset, count) =
        switch item.kind {
        case "hvc1": (0, start, coded.count)
        case "Exif", "tmap": (0, start + coded.count, Self.location.count)
        default: (1, 0, grid.count)
        }
      return Self.bytes(item.id, 2) + Self.bytes(method, 2) + Self.bytes(0, 2) + Self.bytes(1, 2)
        + Self.bytes(offset, 4) + Self.bytes(count, 4)
    }
    let kinds = items.map { item in
      Self.full("infe", version: 2, Self.bytes(item.id, 2) + Self.bytes(0, 2) + Data("\(item.kind)\0".utf8))
    }
    let associations = items.map { Self.bytes($0.id, 2) + Data([UInt8($0.properties.count)] + $0.properties) }
    let boxes: [Data] = [
      Self.full("hdlr", Data("\0\0\0\0pict".utf8) + Data(count: 13)), Self.full("pitm", Self.bytes(2, 2)),
      Self.box("idat", grid),
      Self.full("iloc", version: 1, Data([0x44, 0]) + Self.bytes(items.count, 2) + Data(locations.joined())),
      Self.full("iinf", Self.bytes(items.count, 2) + Data(kinds.joined())),
      Self.box(
        "iprp", properties + Self.full("ipma", Self.bytes(items.count, 4) + Data(associations.joined()))),
      Self.full("iref", references), isFromAPhone ? alternatives : Data(),
    ]
    return Self.full("meta", Data(boxes.joined()))
  }

  private var references: Data {
    let tiles = reference("dimg", from: 2, to: Array(repeating: 1, count: rows * columns))
    guard isFromAPhone else { return tiles }
    return tiles + reference("thmb", from: 3, to: [2]) + reference("auxl", from: 4, to: [2])
      + reference("cdsc", from: 5, to: [2]) + reference("dimg", from: 6, to: [2, 4])
  }

  private func reference(_ type: String, from: Int, to others: [Int]) -> Data {
    Self.box(
      type, Self.bytes(from, 2) + Self.bytes(others.count, 2) + Data(others.map { Self.bytes($0, 2) }.joined()))
  }

  /// The picture and its tone-mapped derivation, as alternatives.
  private var alternatives: Data {
    Self.box("grpl", Self.full("altr", Data([100, 2, 6, 2].map { Self.bytes($0, 4) }.joined())))
  }

  private var properties: Data {
    let boxes: [Data] = [
      Self.box("hvcC", configuration), Self.full("ispe", Self.bytes(128, 4) + Self.bytes(64, 4)),
      Self.full("ispe", Self.bytes(shown.width, 4) + Self.bytes(shown.height, 4)),
      Self.full("pixi", Data([3, 8, 8, 8])),
      Self.full("auxC", Data("urn:com:apple:photo:2020:aux:hdrgainmap\0".utf8)),
    ]
    return Self.box("ipco", Data(boxes.joined()))
  }

  /// A sequence parameter set for pictures of this size.
  static func sequence(_ width: Int, _ height: Int) -> Data {
    func code(_ number: Int) -> String {
      let binary = String(number + 1, radix: 2)
      return String(repeating: "0", count: binary.count - 1) + binary
    }
    // One layer, an arbitrary profile, set 0, 4:2:0 chroma.
    var bits = "0000" + "000" + "1" + String(repeating: "01", count: 48) + code(0) + code(1)
    bits += code(width) + code(height) + String(repeating: "10", count: 20)
    let digits = Array(bits)
    let bytes = stride(from: 0, to: digits.count - 7, by: 8).map { UInt8(String(digits[$0..<$0 + 8]), radix: 2) ?? 0 }
    return Data([0x42, 0x01] + bytes)
  }

  /// The decoder configuration for pictures of this size.
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
