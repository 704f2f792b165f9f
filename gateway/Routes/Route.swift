import StrictHTTP
import Web
import Wire

/// One line of the table: a method and a path, who answers, and on what terms.
package final class Route: Sendable {
  let method: RequestHead.Method
  /// With `{name}` for a segment that may be anything.
  let path: String
  let service: ServiceName
  let bearer: Bearer
  /// What it counts as; nil: as the user's, or as an anonymous caller's.
  let limit: LimitClass?
  /// What it counts as instead when this is the whole query, byte for byte.
  let otherwise: (query: [UInt8], limit: LimitClass)?
  let bodyBytesMax: Int
  /// How long the service may take until its answer begins.
  let answerSeconds: Int64
  /// How long an answer that has begun may pause.
  let silenceSeconds: Int64
  /// How long the client may take to send the body, all in all.
  let bodySeconds: Int64
  /// The lines that tell the service how long its answer is waited for, without a body and with one.
  let answerLine: [UInt8]
  let bodyAndAnswerLine: [UInt8]

  package enum Bearer: Sendable {
    /// A bearer is not looked at.
    case none
    /// A bearer must be good if there is one.
    case optional
    /// A bearer counts if it is good. In its place a project's key may come, which is none.
    case welcome
    case required
    /// Only for outside systems that present a service key.
    case service
  }

  /// - Parameter refreshQuery: the query that makes it a refresh, where sign-ins come by the same path.
  package init(
    _ method: RequestHead.Method, _ path: String, to service: ServiceName, bearer: Bearer = .none,
    limit: LimitClass? = nil, refreshQuery: String? = nil, bodyBytesMax: Int = 64 * 1024, answerSeconds: Int64 = 10,
    bodySeconds: Int64 = 60,
    silenceSeconds: Int64? = nil
  ) {
    self.method = method
    self.path = path
    self.service = service
    self.bearer = bearer
    self.limit = limit
    otherwise = refreshQuery.map { (Array("?\($0)".utf8), .refresh) }
    self.bodyBytesMax = bodyBytesMax
    self.answerSeconds = answerSeconds
    self.bodySeconds = bodySeconds
    self.silenceSeconds = silenceSeconds ?? max(60, answerSeconds)
    answerLine = Array("\(Header.timeout): \(answerSeconds * 1000)\r\n".utf8)
    bodyAndAnswerLine = Array("\(Header.timeout): \((answerSeconds + bodySeconds) * 1000)\r\n".utf8)
  }

  /// What a request of this route counts as. Only one spelling of a query is known: whatever a service could read in
  /// another way counts as the route says.
  func limit(of head: RequestHead, _ bytes: Span<UInt8>) -> LimitClass? {
    guard let otherwise, head.target.end - head.path.end == otherwise.query.count else { return limit }
    for index in otherwise.query.indices where bytes[head.path.end + index] != otherwise.query[index] { return limit }
    return otherwise.limit
  }
}
