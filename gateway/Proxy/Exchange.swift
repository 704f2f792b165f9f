import NIOCore
import StrictHTTP
import Wire

/// The state of one request and its response. A class, because a value with this many references is expensive to copy.
final class Exchange {
  let method: RequestHead.Method
  let isVersion10: Bool
  let startedAt: NIODeadline
  var route: Route?
  /// Whether the gateway serves the route itself.
  var isLocal = false
  /// The authenticated caller, once it is known.
  var caller: Caller?
  /// nil until the request is counted; stays nil when the caller is not rate limited.
  var limitVerdict: LimitVerdict?
  /// The rate limit class; nil until it is known, and for ``LimitClass/standard(isUser:)``.
  var limit: LimitClass?
  /// The origin of the page, if it may read the response.
  var origin: [UInt8]?
  /// The version of GoTrue's API that the client names.
  var goTrueVersion: GoTrueVersion?
  /// The part of the body that has not been forwarded or discarded yet.
  var remainingBody: RemainingBody
  var bodyBytes = 0
  /// Whether the whole body has arrived, though not all of it is forwarded.
  var isBodyBuffered = false
  /// When the whole body must have arrived.
  var bodyDeadline = NIODeadline.distantFuture
  var chunkScan: ChunkScan?
  /// What the body has reserved while it arrives.
  var reservation: RequestBodyBudget.Reservation?
  /// The answer that completes the opening handshake of a WebSocket; nil for other requests.
  var webSocketAccept: [UInt8]?
  /// The address that the WebSocket counts for, from when it is counted.
  var socketAddress: IPAddress?
  var mustClose: Bool
  var isRetried = false
  /// Whether the bytes of the head have been removed from the inbound buffer.
  var isHeadConsumed = false
  var expectsContinue: Bool
  var forwardedAt: NIODeadline?
  /// The status of the response, once it has begun.
  var status: Int?
  /// nil when the exchange is not traced.
  var spans: ExchangeSpans?
  /// The framing of the response body to the client.
  var responseFraming = Framing.none

  init(_ head: RequestHead) {
    method = head.method
    isVersion10 = head.isVersion10
    startedAt = .now()
    remainingBody = RemainingBody(head.framing)
    mustClose = !head.keepsAlive
    expectsContinue = head.expectsContinue
  }

  /// For bytes that could not be parsed as a request.
  private init() {
    method = .GET
    isVersion10 = false
    startedAt = .now()
    remainingBody = .ended
    mustClose = true
    expectsContinue = false
    isHeadConsumed = true
  }

  static var unparsed: Exchange { Exchange() }

  /// The header line with the time that the service has, including the time for a body that is still arriving.
  var timeoutHeader: [UInt8] { route.map { isFullyReceived ? $0.timeoutHeader : $0.timeoutHeaderWithBody } ?? [] }

  /// Whether the whole body has been forwarded or discarded.
  var requestEnded: Bool { remainingBody.hasEnded }

  /// Whether the whole request has arrived.
  var isFullyReceived: Bool { requestEnded || isBodyBuffered }

  /// Whether the request changes nothing (RFC 9110 §9.2.1).
  var isSafe: Bool { method == .GET || method == .HEAD }

  /// Requests of safe methods, which have no body here, may be retried once on another connection (RFC 9110 §9.2.2).
  var mayRetry: Bool { !isRetried && isSafe && status == nil }
}

/// The part of a request body that is still to be read.
enum RemainingBody {
  case ended
  case length(Int)
  case chunked(ChunkedBodyDecoder)

  init(_ framing: Framing) {
    switch framing {
    case .length(let bytes) where bytes > 0: self = .length(bytes)
    case .chunked: self = .chunked(ChunkedBodyDecoder())
    default: self = .ended
    }
  }

  var hasEnded: Bool {
    if case .ended = self { true } else { false }
  }

  /// What remains when as much as possible is removed from `bytes`; nil for invalid chunks.
  func discarding(_ bytes: inout ByteBuffer) -> RemainingBody? {
    switch self {
    case .ended: return .ended
    case .length(let left):
      let count = min(left, bytes.readableBytes)
      bytes.moveReaderIndex(forwardBy: count)
      return left == count ? .ended : .length(left - count)
    case .chunked(var decoder):
      let received = bytes
      let span = received.readableBytesUInt8Span
      var index = 0
      do { while let part = try decoder.next(span, &index), case .data = part {} } catch { return nil }
      bytes.moveReaderIndex(forwardBy: index)
      return decoder.hasEnded ? .ended : .chunked(decoder)
    }
  }
}
