import NIOCore
import StrictHTTP
import Wire

/// One request and its answer, as far as they have got.
struct Exchange {
  let method: RequestHead.Method
  let isVersion10: Bool
  let startedAt: NIODeadline
  var route: Route?
  /// The gateway answers it by itself.
  var isOwn = false
  /// As whom the request goes on.
  var caller: Caller?
  /// Counted, unless the caller is not limited.
  var limited: LimitVerdict?
  /// As what it is counted; nil until that is known, and for what counts as its caller does.
  var limit: LimitClass?
  /// The origin of a page that may read the answer.
  var origin: [UInt8]?
  /// What the client names as its version of GoTrue's API.
  var goTrueVersion: GoTrueVersion?
  /// How much of the body is still to come.
  var body: RequestBody
  var bodyBytes = 0
  /// All of the body has come, though not all is passed on.
  var isBodyHere = false
  /// When the last of the body must have come.
  var bodyDeadline = NIODeadline.distantFuture
  var chunksSeen: ChunksSeen?
  /// What the body takes while it is arriving.
  var hold: UnfinishedBodies.Hold?
  var mustClose: Bool
  var isRepeated = false
  /// Whether the head's bytes are out of the client's buffer.
  var isHeadTaken = false
  var awaitsContinue: Bool
  var forwardedAt: NIODeadline?
  /// Of the answer, once it has begun.
  var status: Int?
  /// nil: it is not traced.
  var spans: ExchangeSpans?
  /// How the answer's body is told to end.
  var answerFraming = Framing.none

  init(_ head: RequestHead) {
    method = head.method
    isVersion10 = head.isVersion10
    startedAt = .now()
    body = RequestBody(head.framing)
    mustClose = !head.keepsAlive
    awaitsContinue = head.awaitsContinue
  }

  /// What could not even be read as a request.
  private init() {
    method = .GET
    isVersion10 = false
    startedAt = .now()
    body = .ended
    mustClose = true
    awaitsContinue = false
    isHeadTaken = true
  }

  static var unread: Exchange { Exchange() }

  /// How long the service's answer is waited for, from the head on; a body that is still to come takes its own time.
  var timeoutLine: [UInt8] { route.map { isComplete ? $0.answerLine : $0.bodyAndAnswerLine } ?? [] }

  var requestEnded: Bool { body.hasEnded }

  /// Whether nothing more is to come of the request.
  var isComplete: Bool { requestEnded || isBodyHere }

  /// Safe methods have no body here and may be tried once more on another connection (RFC 9110 §9.2.2).
  var mayRepeat: Bool { !isRepeated && (method == .GET || method == .HEAD) && status == nil }
}

/// What is still to come of a request's body.
enum RequestBody {
  case ended
  case length(Int)
  case chunked(ChunkedBody)

  init(_ framing: Framing) {
    switch framing {
    case .length(let bytes) where bytes > 0: self = .length(bytes)
    case .chunked: self = .chunked(ChunkedBody())
    default: self = .ended
    }
  }

  var hasEnded: Bool {
    if case .ended = self { true } else { false }
  }
}
