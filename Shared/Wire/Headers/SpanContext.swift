/// The ids of a trace and a span with the sampling flag, as in the `traceparent` header of W3C Trace Context.
package struct SpanContext: Sendable, Hashable {
  package let trace: UInt128
  package let span: UInt64
  package let isSampled: Bool

  package init(trace: UInt128, span: UInt64, isSampled: Bool) {
    self.trace = trace
    self.span = span
    self.isSampled = isSampled
  }

  /// Parses a header of W3C Trace Context §3.2: `<2 hex>-<32 hex>-<16 hex>-<2 hex>`, lower case, neither id all zeros.
  /// Of a later version the fields of version 00 are read, and what follows a further dash is ignored.
  ///
  /// - Returns: nil for a value that is not valid.
  package init?(traceparent: String) {
    let parts = traceparent.split(separator: "-", maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count >= 4, let version = Self.number(parts[0], digits: 2, as: UInt8.self), version != 0xFF,
      parts.count == 4 || version > 0,
      let trace = Self.number(parts[1], digits: 32, as: UInt128.self), trace != 0,
      let span = Self.number(parts[2], digits: 16, as: UInt64.self), span != 0,
      let flags = Self.number(parts[3], digits: 2, as: UInt8.self)
    else { return nil }
    self.init(trace: trace, span: span, isSampled: flags & 1 == 1)
  }

  package var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

  package var traceID: String { Self.hex(trace, digits: 32) }
  package var spanID: String { Self.hex(span, digits: 16) }

  package static func hex(_ number: some BinaryInteger, digits: Int) -> String {
    let hex = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digits - hex.utf8.count)) + hex
  }

  /// `Int(_:radix:)` would also accept signs and upper case.
  private static func number<N: FixedWidthInteger>(_ text: Substring, digits: Int, as type: N.Type) -> N? {
    guard text.utf8.count == digits else { return nil }
    var number: N = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | N(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | N(byte - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }
}
