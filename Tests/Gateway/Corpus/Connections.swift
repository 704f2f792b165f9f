/// `Connection`, `Expect` and `Upgrade`.
extension RawRequest {
  private static let reservedFields = [
    "X-User-ID", "X-Service-Key", "X-Session-ID", "X-User-Email", "X-Service-Name", "X-Ended-Sessions", "X-Request-Id",
    "Traceparent", "Host", "Authorization", "Content-Length", "Content-Type", "Transfer-Encoding", "Expect",
    "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Real-IP", "Forwarded",
  ]

  private static let noTokens = [
    "close;q=1", "\"close\"", "close x", "close, x y", "close:", "x@y", "x/y", "x=y", "(close)", "close, [x]", "a b, c",
    "ｃlose", "close\\",
  ]

  static let connections: [RawRequest] = Array([namingReservedFields, unreadable, disguisedReservedFields].joined())

  private static let namingReservedFields: [RawRequest] = reservedFields.map {
    get("Connection names \($0)", "Connection: \($0)", "X-Other: 1")
  }

  private static let unreadable: [RawRequest] = noTokens.map { get("Connection says \($0)", "Connection: \($0)") }

  private static let disguisedReservedFields: [RawRequest] = [
    get("Connection names X-User-ID in lower case", "Connection: x-user-id"),
    get("Connection names X-Service-Key behind close", "Connection: close, X-Service-Key"),
    get("Connection names X-Request-Id before close", "Connection: X-Request-Id,close"),
    get("Connection names X-Session-ID behind empty places", "Connection: ,, ,X-Session-ID,"),
    get("Connection names X-User-ID behind a tab", "Connection: close,\tX-User-ID"),
    get("Connection names X-User-ID and a request has one", "X-User-ID: 1", "Connection: X-User-ID"),
    get("A second Connection names X-User-ID", "Connection: close", "Connection: X-User-ID"),
    get(
      "Connection names Authorization and a request has one", "Authorization: Bearer x", "Connection: Authorization"),
    post("Connection names the length of a body", "Content-Length: 5", "Connection: Content-Length", body: "hello"),
    post(
      "Connection names the coding of a body", "Transfer-Encoding: chunked", "Connection: Transfer-Encoding",
      body: "0\r\n\r\n"),
    .init(
      "Connection names X-User-ID by HTTP/1.0", "GET /echo HTTP/1.0\r\nConnection: keep-alive, X-User-ID\r\n\r\n",
      status: 400),
  ]

  private static let unmetExpectationValues = [
    "", "100", "continue", "100 continue", "100_continue", "100-continues", "x100-continue", "100-continue, x",
    "100-continue;q=1", "\"100-continue\"", "200-ok", "101-switching-protocols", "102-processing", "payment",
  ]

  static let expectations: [RawRequest] = Array([unmetExpectations, otherExpectations].joined())

  private static let unmetExpectations: [RawRequest] = unmetExpectationValues.map {
    post("\($0.debugDescription) is expected", "Expect: \($0)", "Content-Length: 0", status: 417)
  }

  private static let otherExpectations: [RawRequest] = [
    get("A GET expects too much", "Expect: a-miracle", status: 417),
    post("The same is expected twice", "Expect: 100-continue", "Expect: 100-continue", "Content-Length: 0"),
    post("More is expected afterwards", "Expect: 100-continue", "expect: 200-ok", "Content-Length: 0"),
    post("A length that is none is announced", "Expect: 100-continue", "Content-Length: x"),
    post(
      "A body that is too long is announced", to: "/small", "Expect: 100-continue", "Content-Length: 1025",
      "Connection: close", status: 413),
  ]

  private static let protocols = [
    "h2c", "h2", "HTTP/2.0", "HTTP/3", "TLS/1.0", "TLS/1.2, HTTP/1.1", "IRC/6.9", "connect-udp", "websocket, h2c",
    "h2c, websocket", "websocket/13", "xwebsocket", "foo", "",
  ]

  static let upgrades: [RawRequest] = Array([webSockets, otherProtocols, handshakes].joined())

  private static let webSockets: [RawRequest] = ["websocket", "WebSocket", "WEBSOCKET"].map {
    get("An upgrade to \($0) is asked for", "Connection: Upgrade", "Upgrade: \($0)", status: 501)
  }

  private static let otherProtocols: [RawRequest] = protocols.map {
    get("An upgrade to \($0.debugDescription) is asked for", "Connection: Upgrade", "Upgrade: \($0)")
  }

  private static let handshakes: [RawRequest] = [
    get(
      "A WebSocket is opened", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", status: 501),
    get("A WebSocket is asked for without Connection", "Upgrade: websocket", status: 501),
    get(
      "HTTP/2 is asked for with its settings", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"),
    get("HTTP/2 is asked for without Connection", "Upgrade: h2c"),
    post(
      "HTTP/2 is asked for by a POST", "Connection: Upgrade", "Upgrade: h2c", "Content-Length: 5", body: "hello"),
    .init(
      "A stranger opens a WebSocket", head("GET /who", ["Connection: Upgrade", "Upgrade: websocket"]), status: 501),
  ]
}
