import Foundation
import Wire

/// The items of a HEIC file, as its `meta` box lists them (ISO/IEC 14496-12 §8.11), by id.
struct HEICItems {
  private(set) var primary = 0
  /// The auxiliary images of the primary item, such as its alpha plane.
  private(set) var auxiliary: [Int] = []
  private(set) var types: [Int: String] = [:]
  private(set) var tiles: [Int: [Int]] = [:]
  /// The decoder configurations of coded items.
  private(set) var configurations: [Int: ByteReader] = [:]
  private(set) var extents: [Int: [ByteReader]] = [:]

  /// Cameras write a few kilobytes.
  static let metaBytesMax = 256 * 1024

  /// - Throws: 422 unless each required box exists exactly once and is valid.
  init(of bytes: UnsafeRawBufferPointer) throws(Failure) {
    var meta = try Self.meta(in: ByteReader(bytes))
    _ = try meta.version()
    let boxes = try Self.single(try meta.boxes(), of: ["pitm", "iinf", "iprp", "iloc", "iref", "idat"])
    guard var pitm = boxes["pitm"], let iinf = boxes["iinf"], let iprp = boxes["iprp"], let iloc = boxes["iloc"] else {
      throw .photoUnreadable
    }
    primary = try pitm.number(pitm.version().version == 0 ? 2 : 4)
    try readTypes(iinf)
    if let iref = boxes["iref"] { try readReferences(iref) }
    try readProperties(iprp)
    try readLocations(iloc, in: ByteReader(bytes), idat: boxes["idat"])
  }

  /// The only `meta` box. Bytes after the last valid box are ignored, unless a decoder could read them as a second one.
  private static func meta(in file: ByteReader) throws(Failure) -> ByteReader {
    var (rest, meta) = (file, ByteReader?.none)
    while rest.range.count >= 8 {
      var head = rest
      _ = try head.number(4)
      let isMeta = try head.text(4) == "meta"
      guard !isMeta || meta == nil else { throw .photoUnreadable }
      do {
        let content = try rest.box().content
        if isMeta { meta = content }
      } catch {
        guard !isMeta else { throw error }
        break
      }
    }
    guard let meta, meta.range.count <= metaBytesMax else { throw .photoUnreadable }
    return meta
  }

  private static func single(
    _ boxes: [(type: String, content: ByteReader)], of types: Set<String>
  ) throws(Failure) -> [String: ByteReader] {
    var single: [String: ByteReader] = [:]
    for box in boxes where types.contains(box.type) {
      guard single.updateValue(box.content, forKey: box.type) == nil else { throw .photoUnreadable }
    }
    return single
  }

  /// The item information box (§8.11.6).
  private mutating func readTypes(_ iinf: ByteReader) throws(Failure) {
    var reader = iinf
    _ = try reader.number(reader.version().version == 0 ? 2 : 4)
    for (type, content) in try reader.boxes() where type == "infe" {
      var entry = content
      let version = try entry.version().version
      guard version >= 2 else { continue }
      let id = try entry.number(version == 2 ? 2 : 4)
      _ = try entry.number(2)
      guard types.updateValue(try entry.text(4), forKey: id) == nil else { throw .photoUnreadable }
    }
  }

  /// The item reference box (§8.11.12).
  private mutating func readReferences(_ iref: ByteReader) throws(Failure) {
    var reader = iref
    let length = try reader.version().version == 0 ? 2 : 4
    for (type, content) in try reader.boxes() where type == "dimg" || type == "auxl" {
      var entry = content
      let from = try entry.number(length)
      for _ in 0..<(try entry.number(2)) {
        let to = try entry.number(length)
        if type == "dimg" { tiles[from, default: []].append(to) }
        if type == "auxl", to == primary { auxiliary.append(from) }
      }
    }
  }

  /// The item properties box (§8.11.14).
  private mutating func readProperties(_ iprp: ByteReader) throws(Failure) {
    let boxes = try iprp.boxes()
    guard let ipco = try Self.single(boxes, of: ["ipco"])["ipco"] else { throw .photoUnreadable }
    let properties = try ipco.boxes()
    for (type, content) in boxes where type == "ipma" {
      var reader = content
      let (version, flags) = try reader.version()
      for _ in 0..<(try reader.number(4)) {
        let item = try reader.number(version == 0 ? 2 : 4)
        for _ in 0..<(try reader.number(1)) {
          let index = try flags & 1 == 0 ? reader.number(1) & 0x7F : reader.number(2) & 0x7FFF
          guard index > 0, index <= properties.count, properties[index - 1].type == "hvcC" else { continue }
          guard configurations.updateValue(properties[index - 1].content, forKey: item) == nil else {
            throw .photoUnreadable
          }
        }
      }
    }
  }

  /// The item location box (§8.11.3).
  private mutating func readLocations(_ iloc: ByteReader, in file: ByteReader, idat: ByteReader?) throws(Failure) {
    var reader = iloc
    let version = try reader.version().version
    let lengths = try reader.number(2)
    let (offsetLength, lengthLength, baseLength) = (lengths >> 12, lengths >> 8 & 15, lengths >> 4 & 15)
    let indexLength = version == 0 ? 0 : lengths & 15
    guard lengthLength > 0 else { throw .photoUnreadable }
    for _ in 0..<(try reader.number(version < 2 ? 2 : 4)) {
      let item = try reader.number(version < 2 ? 2 : 4)
      let method = version == 0 ? 0 : try reader.number(2) & 15
      _ = try reader.number(2)
      let base = try reader.number(baseLength)
      for _ in 0..<(try reader.number(2)) {
        _ = try reader.number(indexLength)
        let offset = try reader.number(offsetLength)
        let length = try reader.number(lengthLength)
        guard let source = method == 0 ? file : method == 1 ? idat : nil else { continue }
        extents[item, default: []].append(try Self.extent(base, offset, length, of: source))
      }
    }
  }

  private static func extent(
    _ base: Int, _ offset: Int, _ length: Int, of source: ByteReader
  ) throws(Failure) -> ByteReader {
    let (start, overflow) = base.addingReportingOverflow(offset)
    guard !overflow else { throw .photoUnreadable }
    var rest = source
    _ = try rest.part(start)
    return try rest.part(length == 0 ? rest.range.count : length)
  }
}
