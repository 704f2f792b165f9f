import NIOHTTP1
import Wire

/// What travels on from one side to the other: a fresh head, built from what is allowed.
enum Forwarding {
  /// Whom the gateway vouches for towards a service.
  struct Assertion: Sendable, Hashable {
    var user: UserID?
    var session: SessionID?
    /// The outside system whose key was presented.
    var service: String?
  }

  /// The head for the service. Hop-by-hop headers and those that `Connection` names are dropped first, then what only
  /// insiders may say; what the gateway says comes last, so that nothing of the client's can remove it.
  static func request(
    _ head: HTTPRequestHead, as assertion: Assertion, key: String, trace: Trace, client: String, host: String
  ) -> HTTPRequestHead {
    var headers = HTTPHeaders()
    headers.reserveCapacity(head.headers.count + 6)
    headers.add(name: "host", value: host)
    let named = namedByConnection(head.headers)
    for (name, value) in head.headers {
      let lower = name.lowercased()
      if droppedFromRequests.contains(lower) || named.contains(lower) { continue }
      headers.add(name: name, value: value)
    }
    frame(&headers, like: head)
    headers.add(name: Header.serviceKey, value: key)
    headers.add(name: Header.requestID, value: trace.requestID)
    if let traceparent = trace.traceparent { headers.add(name: Header.traceparent, value: traceparent) }
    headers.add(name: "x-forwarded-for", value: client)
    if let user = assertion.user { headers.add(name: Header.userID, value: user.description) }
    if let session = assertion.session { headers.add(name: Header.sessionID, value: session.description) }
    if let service = assertion.service { headers.add(name: Header.serviceName, value: service) }
    return HTTPRequestHead(version: .http1_1, method: head.method, uri: head.uri, headers: headers)
  }

  /// The head for the client, framed for its version of HTTP.
  static func response(
    _ head: HTTPResponseHead, toHead isHead: Bool, version: HTTPVersion, requestID: String, closing: Bool
  ) -> HTTPResponseHead {
    var headers = HTTPHeaders()
    headers.reserveCapacity(head.headers.count + 2)
    var hasLength = false
    for (name, value) in head.headers {
      let lower = name.lowercased()
      if droppedFromResponses.contains(lower) { continue }
      if lower == "content-length" { hasLength = true }
      headers.add(name: name, value: value)
    }
    headers.add(name: Header.requestID, value: requestID)
    if closing { headers.add(name: "connection", value: "close") }
    let hasBody = !isHead && head.status.mayHaveResponseBody
    if hasBody, !hasLength, version == .http1_1 { headers.add(name: "transfer-encoding", value: "chunked") }
    return HTTPResponseHead(version: .http1_1, status: head.status, headers: headers)
  }

  /// Whether the end of an answer can only be told by closing the connection.
  static func needsClose(_ head: HTTPResponseHead, version: HTTPVersion) -> Bool {
    version == .http1_0 && head.status.mayHaveResponseBody && !head.headers.contains(name: "content-length")
  }

  private static func frame(_ headers: inout HTTPHeaders, like head: HTTPRequestHead) {
    if let length = head.headers.first(name: "content-length") {
      headers.add(name: "content-length", value: length)
    } else if head.headers.contains(name: "transfer-encoding") {
      headers.add(name: "transfer-encoding", value: "chunked")
    }
  }

  private static func namedByConnection(_ headers: HTTPHeaders) -> Set<String> {
    guard headers.contains(name: "connection") else { return [] }
    return Set(headers[canonicalForm: "connection"].map { $0.lowercased() })
  }

  /// RFC 9110 §7.6.1, and what RFC 9112 §6 lets only the sender of a message say.
  private static let hopByHop: Set = [
    "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]

  /// The bearer stays here: services believe what the gateway says of it.
  private static let droppedFromRequests = hopByHop.union(Header.insiders).union([
    "host", "content-length", "expect", "authorization", "forwarded", "x-forwarded-for", "x-forwarded-host",
    "x-forwarded-proto", "x-forwarded-port", "x-real-ip", Header.requestID, Header.traceparent,
  ])

  private static let droppedFromResponses = hopByHop.union(Header.insiders).union([Header.requestID])
}
