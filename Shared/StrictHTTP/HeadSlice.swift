/// A range of bytes in a head, as offsets from its first byte.
package struct HeadSlice: Sendable, Hashable {
  private let first: UInt16
  private let length: UInt16

  /// Heads are at most 16 KB long, so both fit; larger values are clamped instead of trapping.
  init(_ start: Int, _ end: Int) {
    first = UInt16(clamping: start)
    length = UInt16(clamping: end - start)
  }

  package var start: Int { Int(first) }
  package var count: Int { Int(length) }
  package var end: Int { start + count }
}
