import NIOCore
import NIOHTTP1
import Wire

/// One request and its answer, as far as they have got.
struct Exchange {
  let method: HTTPMethod
  let path: Substring
  let version: HTTPVersion
  let contentLength: Int?
  let isChunked: Bool
  let trace: Trace
  let startedAt = NIODeadline.now()
  var route: Route?
  /// The head as it went to the service.
  var forwarded: HTTPRequestHead?
  var bodyBytes = 0
  var requestEnded = false
  var mustClose: Bool
  var isRepeated = false
  /// The client holds its body back until it is told to go on (RFC 9110 §10.1.1).
  var awaitsContinue: Bool
  /// Of the answer, once it has begun.
  var status: Int?

  init(_ head: HTTPRequestHead) {
    method = head.method
    path = head.uri.prefix { $0 != "?" }
    version = head.version
    contentLength = head.headers.first(name: "content-length").flatMap { Int($0) }
    isChunked = head.headers.contains(name: "transfer-encoding")
    trace = Trace(
      requestID: head.headers.first(name: Header.requestID), traceparent: head.headers.first(name: Header.traceparent))
    mustClose = !head.isKeepAlive
    awaitsContinue = head.headers.first(name: "expect")?.lowercased() == "100-continue"
  }

  /// What could not even be read as a request.
  static func unread() -> Exchange {
    var exchange = Exchange(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"))
    exchange.mustClose = true
    return exchange
  }

  var isHead: Bool { method == .HEAD }
  var dialect: Dialect { Dialect(path: path) }

  /// Safe methods without a body may be tried once more on another connection.
  var mayRepeat: Bool {
    !isRepeated && (method == .GET || method == .HEAD) && bodyBytes == 0 && requestEnded && status == nil
  }
}
