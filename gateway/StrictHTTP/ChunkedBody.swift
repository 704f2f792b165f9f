/// Takes a chunked body (RFC 9112 §7.1) apart as it arrives. Chunk extensions and trailers are refused: nobody needs
/// them, and both have been used to hide where a body ends.
package struct ChunkedBody: Sendable {
  private enum Place: Sendable {
    case size(digits: Int, value: Int)
    case sizeLineFeed(Int)
    case data(Int)
    case dataReturn
    case dataLineFeed
    case lastReturn
    case lastLineFeed
    case ended
  }

  package enum Piece: Sendable, Equatable {
    case data(Range<Int>)
    case ended
  }

  private var place = Place.size(digits: 0, value: 0)
  private static let sizeDigitsMax = 8

  package init() {}

  package var hasEnded: Bool {
    if case .ended = place { true } else { false }
  }

  /// The next piece of the body in `bytes` from `index` on, which moves behind what was read.
  ///
  /// - Returns: nil when all bytes are read and more must come.
  package mutating func next(_ bytes: Span<UInt8>, _ index: inout Int) throws(Refusal) -> Piece? {
    while true {
      if case .ended = place { return .ended }
      guard index < bytes.count else { return nil }
      if case .data(let left) = place {
        let end = index + min(left, bytes.count - index)
        let piece = index..<end
        place = left == piece.count ? .dataReturn : .data(left - piece.count)
        index = end
        return .data(piece)
      }
      place = try after(bytes[index])
      index += 1
    }
  }

  private func after(_ byte: UInt8) throws(Refusal) -> Place {
    switch place {
    case .size(let digits, let value):
      if byte == .carriageReturn, digits > 0 { return .sizeLineFeed(value) }
      guard let digit = byte.hexDigit, digits < Self.sizeDigitsMax else { throw .malformed }
      return .size(digits: digits + 1, value: value << 4 | Int(digit))
    case .sizeLineFeed(let size):
      guard byte == .lineFeed else { throw .malformed }
      return size == 0 ? .lastReturn : .data(size)
    case .dataReturn:
      guard byte == .carriageReturn else { throw .malformed }
      return .dataLineFeed
    case .dataLineFeed:
      guard byte == .lineFeed else { throw .malformed }
      return .size(digits: 0, value: 0)
    case .lastReturn:
      guard byte == .carriageReturn else { throw .malformed }
      return .lastLineFeed
    case .lastLineFeed:
      guard byte == .lineFeed else { throw .malformed }
      return .ended
    case .data, .ended: throw .malformed
    }
  }
}
