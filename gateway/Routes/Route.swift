import StrictHTTP
import Web
import Wire

/// A public route: a method and a path, the service that it leads to, who may call it, and its limits and timeouts.
package final class Route: Sendable {
  let method: RequestHead.Method
  /// A segment `{name}` is a parameter.
  let path: String
  let service: ServiceName
  let bearer: BearerPolicy
  /// The rate limit class; nil: ``LimitClass/user`` or ``LimitClass/anonymous``, depending on the caller.
  let limit: LimitClass?
  /// The rate limit class of requests whose whole query is this one, byte for byte.
  let queryLimit: (query: [UInt8], limit: LimitClass)?
  let bodyBytesMax: Int
  /// How long the service may take until its response begins.
  let responseSeconds: Int64
  /// How long a response that has begun may pause.
  let idleSeconds: Int64
  /// How long the client may take to send the whole body.
  let bodySeconds: Int64
  /// Whether the service gets the bearer token itself, because it has to know when the token expires.
  let forwardsBearer: Bool
  /// Whether it is the opening handshake of a WebSocket. No other request may ask to switch protocols.
  let isWebSocket: Bool
  /// The header line with the time that the service has, for a request whose body is complete.
  let timeoutHeader: [UInt8]
  /// The same for a request whose body is still arriving.
  let timeoutHeaderWithBody: [UInt8]

  /// Whether a route requires a bearer token, and what becomes of an invalid one.
  package enum BearerPolicy: Sendable {
    /// A token is ignored.
    case none
    /// A token may be missing, but must be valid if there is one.
    case optional
    /// An invalid token is ignored, because Supabase clients send their project's key in its place.
    case ifValid
    case required
    /// Only for external systems that present a service key.
    case serviceKey
  }

  /// - Parameter refreshQuery: the query of token refreshes on a path that also serves sign-ins.
  package init(
    _ method: RequestHead.Method, _ path: String, to service: ServiceName, bearer: BearerPolicy = .none,
    limit: LimitClass? = nil, refreshQuery: String? = nil, bodyBytesMax: Int = 64 * 1024, responseSeconds: Int64 = 10,
    bodySeconds: Int64 = 60, idleSeconds: Int64? = nil, forwardsBearer: Bool = false,
    isWebSocket: Bool = false
  ) {
    self.method = method
    self.path = path
    self.service = service
    self.bearer = bearer
    self.limit = limit
    queryLimit = refreshQuery.map { (Array("?\($0)".utf8), .refresh) }
    self.bodyBytesMax = bodyBytesMax
    self.responseSeconds = responseSeconds
    self.bodySeconds = bodySeconds
    self.forwardsBearer = forwardsBearer
    self.isWebSocket = isWebSocket
    self.idleSeconds = idleSeconds ?? max(60, responseSeconds)
    timeoutHeader = Array("\(Header.timeout): \(responseSeconds * 1000)\r\n".utf8)
    timeoutHeaderWithBody = Array("\(Header.timeout): \((responseSeconds + bodySeconds) * 1000)\r\n".utf8)
  }

  /// The rate limit class of a request. A query that a service could interpret in another way has to match
  /// ``queryLimit`` exactly, or ``limit`` applies.
  func limit(of head: RequestHead, _ bytes: Span<UInt8>) -> LimitClass? {
    guard let queryLimit, head.target.end - head.path.end == queryLimit.query.count else { return limit }
    for index in queryLimit.query.indices where bytes[head.path.end + index] != queryLimit.query[index] { return limit }
    return queryLimit.limit
  }
}
