import Testing
import Wire

extension JSONWritable where Self: Decodable {
  /// Expects that what it writes itself is what its `encode(to:)` encodes, for 300 values.
  package static func expectWritesWhatItEncodes() throws {
    for seed in 0..<300 as Range<UInt64> {
      let value = try RandomDecoder(seed: seed).value(Self.self)
      let encoded = try JSONTree(encoding: value) { RFC3339.milliseconds($0) }.text
      let written = String(decoding: try JSON.encodeExact(value), as: UTF8.self)
      guard written == encoded else { return #expect(written == encoded, "\(Self.self), seed \(seed)") }
      let short = try JSONTree(encoding: value) { RFC3339.seconds($0) }.text
      #expect(String(decoding: try JSON.encode(value), as: UTF8.self) == short)
    }
  }
}
