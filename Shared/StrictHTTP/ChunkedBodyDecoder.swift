/// Decodes a chunked body (RFC 9112 §7.1) as it arrives. Chunk extensions and trailers are malformed: no client needs
/// them, and both have been used to disguise the end of a body.
package struct ChunkedBodyDecoder: Sendable {
  private enum State: Sendable {
    case size(digits: Int, value: Int)
    case sizeLineFeed(Int)
    case data(Int)
    case dataCarriageReturn
    case dataLineFeed
    case lastCarriageReturn
    case lastLineFeed
    case ended
  }

  package enum Part: Sendable, Equatable {
    case data(Range<Int>)
    case ended
  }

  private var state = State.size(digits: 0, value: 0)
  private static let sizeDigitsMax = 8

  package init() {}

  package var hasEnded: Bool {
    if case .ended = state { true } else { false }
  }

  /// The next part of the body in `bytes` from `index` on. Advances `index` past the bytes that were read.
  ///
  /// - Returns: nil when more bytes are needed.
  package mutating func next(_ bytes: Span<UInt8>, _ index: inout Int) throws(HTTPParseError) -> Part? {
    while true {
      if case .ended = state { return .ended }
      guard index < bytes.count else { return nil }
      if case .data(let left) = state {
        let end = index + min(left, bytes.count - index)
        let range = index..<end
        state = left == range.count ? .dataCarriageReturn : .data(left - range.count)
        index = end
        return .data(range)
      }
      state = try state(after: bytes[index])
      index += 1
    }
  }

  private func state(after byte: UInt8) throws(HTTPParseError) -> State {
    switch state {
    case .size(let digits, let value):
      if byte == .carriageReturn, digits > 0 { return .sizeLineFeed(value) }
      guard let digit = byte.hexDigitValue, digits < Self.sizeDigitsMax else { throw .malformed }
      return .size(digits: digits + 1, value: value << 4 | Int(digit))
    case .sizeLineFeed(let size):
      guard byte == .lineFeed else { throw .malformed }
      return size == 0 ? .lastCarriageReturn : .data(size)
    case .dataCarriageReturn:
      guard byte == .carriageReturn else { throw .malformed }
      return .dataLineFeed
    case .dataLineFeed:
      guard byte == .lineFeed else { throw .malformed }
      return .size(digits: 0, value: 0)
    case .lastCarriageReturn:
      guard byte == .carriageReturn else { throw .malformed }
      return .lastLineFeed
    case .lastLineFeed:
      guard byte == .lineFeed else { throw .malformed }
      return .ended
    case .data, .ended: throw .malformed
    }
  }
}
