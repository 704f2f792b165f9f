import NIOCore
import StrictHTTP

/// Finds the end of a body in the bytes of a connection.
struct RequestBodyDecoder {
  private enum Rest {
    case length(Int)
    case chunked(ChunkedBodyDecoder)
  }

  private var rest: Rest

  init(_ framing: Framing) {
    switch framing {
    case .none, .untilClose: rest = .length(0)
    case .length(let length): rest = .length(length)
    case .chunked: rest = .chunked(ChunkedBodyDecoder())
    }
  }

  var hasEnded: Bool {
    switch rest {
    case .length(let length): length == 0
    case .chunked(let decoder): decoder.hasEnded
    }
  }

  /// How many bytes are missing; nil when that is not known.
  var missingBytes: Int? {
    guard case .length(let length) = rest else { return nil }
    return length
  }

  /// Removes the body's bytes from `inbound`, as far as they have arrived: those of many small chunks together.
  mutating func take(from inbound: inout ByteBuffer) throws(HTTPParseError) -> ByteBuffer {
    switch rest {
    case .length(let length):
      let count = min(length, inbound.readableBytes)
      rest = .length(length - count)
      return inbound.readSlice(length: count) ?? ByteBuffer()
    case .chunked(var decoder):
      let (body, count) = try Self.takeChunks(&decoder, inbound)
      rest = .chunked(decoder)
      inbound.moveReaderIndex(forwardBy: count)
      return body
    }
  }

  private static func takeChunks(
    _ decoder: inout ChunkedBodyDecoder, _ inbound: ByteBuffer
  ) throws(HTTPParseError) -> (body: ByteBuffer, count: Int) {
    var body = ByteBuffer()
    var index = 0
    let bytes = inbound.readableBytesUInt8Span
    while case .data(let range)? = try decoder.next(bytes, &index) {
      let part = inbound.getSlice(at: inbound.readerIndex + range.lowerBound, length: range.count)
      if let part { body.writeImmutableBuffer(part) }
    }
    return (body, index)
  }
}
