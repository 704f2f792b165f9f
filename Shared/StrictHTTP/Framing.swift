/// How the end of a message body is determined (RFC 9112 §6.3).
package enum Framing: Sendable, Hashable {
  /// No body at all.
  case none
  /// `Content-Length` (RFC 9112 §6.2), in bytes.
  case length(Int)
  /// `Transfer-Encoding: chunked` (RFC 9112 §7.1).
  case chunked
  /// Until the connection closes; only for responses.
  case untilClose

  package var hasBody: Bool { self != .none && self != .length(0) }
}

/// Collects `Content-Length` and `Transfer-Encoding` of a head; each may occur once.
struct FramingFields {
  private(set) var length: Int?
  private(set) var isChunked = false

  mutating func readContentLength(_ bytes: Span<UInt8>, _ value: HeadSlice) throws(HTTPParseError) {
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

  /// Any other coding, or a list of codings, could disguise the end of the body.
  mutating func readTransferEncoding(_ bytes: Span<UInt8>, _ value: HeadSlice) throws(HTTPParseError) {
    guard !isChunked, equalsIgnoringCase(bytes, value.start, value.end, "chunked") else { throw .malformed }
    isChunked = true
  }

  /// Both headers together are malformed, because they enable request smuggling (RFC 9112 §6.1).
  ///
  /// - Parameter fallback: the framing when there is neither header.
  func framing(else fallback: Framing) throws(HTTPParseError) -> Framing {
    guard length == nil || !isChunked else { throw .malformed }
    if isChunked { return .chunked }
    return length.map { .length($0) } ?? fallback
  }
}
