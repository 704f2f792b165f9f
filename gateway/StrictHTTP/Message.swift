/// What requests and answers have in common: fields, and where the body ends.
package enum Framing: Sendable, Hashable {
  /// No body at all.
  case none
  /// `Content-Length` (RFC 9112 §6.2), in bytes.
  case length(Int)
  /// `Transfer-Encoding: chunked` (RFC 9112 §7.1).
  case chunked
  /// Until the connection closes; only answers can be framed so.
  case untilClose

  package var hasBody: Bool { self != .none && self != .length(0) }
}

/// Collects what a head says about its body, so that it can be said only once.
struct FramingFields {
  private(set) var length: Int?
  private(set) var isChunked = false

  mutating func readLength(_ bytes: Span<UInt8>, _ value: Slice) throws(Refusal) {
    guard length == nil, (1...19).contains(value.count) else { throw .malformed }
    var sum = 0
    for index in value.start..<value.end {
      guard bytes[index].isDigit else { throw .malformed }
      let (shifted, overflow) = sum.multipliedReportingOverflow(by: 10)
      let (next, carry) = shifted.addingReportingOverflow(Int(bytes[index] &- 0x30))
      guard !overflow, !carry else { throw .malformed }
      sum = next
    }
    length = sum
  }

  /// Any other coding, or a list of them, could hide where the body ends.
  mutating func readCoding(_ bytes: Span<UInt8>, _ value: Slice) throws(Refusal) {
    guard !isChunked, same(bytes, value.start, value.end, "chunked") else { throw .malformed }
    isChunked = true
  }

  /// Both at once is how requests are smuggled (RFC 9112 §6.1).
  func framing(else otherwise: Framing) throws(Refusal) -> Framing {
    guard length == nil || !isChunked else { throw .malformed }
    if isChunked { return .chunked }
    return length.map { .length($0) } ?? otherwise
  }
}
