/// Invalid requests that follow a valid one in the same bytes.
extension RawRequest {
  private static let next = "GET /echo?n=2 HTTP/1.1\r\nHost: kith.test\r\n\r\n"
  private static let chunks = "Transfer-Encoding: chunked"
  private static let posted = "\(head("POST /count", ["Content-Length: 5"]))hello"
  private static let sentInChunks = "\(head("POST /count", [chunks]))5\r\nhello\r\n0\r\n\r\n"

  static let secondHeads: [RawRequest] = [
    following("A second request has no Host", "GET /echo HTTP/1.1\r\n\r\n"),
    following("A second request has two Hosts", head("GET /echo", ["Host: evil.example"])),
    following("A second request has bare line feeds", "GET /echo HTTP/1.1\nHost: kith.test\n\n"),
    following("A second request has both framings", head("POST /count", ["Content-Length: 5", chunks])),
    following("A second request has two lengths", head("POST /count", ["Content-Length: 5", "Content-Length: 6"])),
    following("A second request has an unknown coding", head("POST /count", ["Transfer-Encoding: gzip, chunked"])),
    following("A second request is spoofed", head("GET /echo", ["X_User_ID: 1"])),
    following("A second request is continued", head("GET /echo", ["X-Other: a", " b"])),
    following("A second request climbs out", head("GET /echo/../internal/x", [])),
    following("A second request climbs out in disguise", head("GET /%2e%2e/internal/x", [])),
    following("A second request is absolute", head("GET http://kith.test/echo", [])),
    following("A second request has a body by GET", "\(head("GET /echo", ["Content-Length: 5"]))hello"),
    following("A second request disarms the gateway", head("GET /echo", ["Connection: X-User-ID"])),
    following("A second request is a TRACE", head("TRACE /echo", []), status: 405),
    following("A second request has a long target", head("GET /\(filler(9000))", []), status: 414),
    following("A second request expects too much", head("POST /count", ["Expect: x"]), status: 417),
    following("A second request has a large head", headOf(16 * 1024 + 1), status: 431),
    following("A second request opens a WebSocket", head("GET /echo", ["Upgrade: websocket"]), status: 501),
    following(
      "A second request is of an unknown version", "GET /echo HTTP/2.0\r\nHost: kith.test\r\n\r\n", status: 505),
    following("HTTP/2 begins behind a good request", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 505),
    following(
      "A body that is too long follows", head("POST /small", ["Content-Length: 9223372036854775807"]), status: 413),
    following("An internal path follows", head("GET /internal/x", ["Connection: close"]), status: 404),
    following("A second request has no Host behind a body", "GET /echo HTTP/1.1\r\n\r\n", after: posted),
    following("A second request has no Host behind chunks", "GET /echo HTTP/1.1\r\n\r\n", after: sentInChunks),
    following(
      "A second request has no Host behind an empty body", "GET / HTTP/1.1\r\n\r\n",
      after: head("POST /count", ["Content-Length: 0"])),
  ]

  /// Bytes after the declared end of a body.
  static let leftovers: [RawRequest] = [
    following("An empty line stands between two requests", "\r\n\(next)"),
    following("An empty line stands behind a body", "\r\n\(next)", after: posted),
    following("An empty line stands behind chunks", "\r\n\(next)", after: sentInChunks),
    following("A line feed stands between two requests", "\n\(next)"),
    following("A space stands between two requests", " \(next)"),
    following("A NUL stands between two requests", "\0\(next)"),
    following("A body goes on", "world\r\n\r\n", after: posted),
    following("A body goes on as a form", "&n=1\r\n\r\n", after: posted),
    following("A body goes on as the next method", "G\(next)", after: posted, status: 405),
    following(
      "A body goes on behind a length of zero", "n=1\r\n\r\n", after: head("POST /count", ["Content-Length: 0"])),
    following("A body comes without any length", "n=1&m=2\r\n\r\n", after: head("POST /count", [])),
    following("Chunks come without a coding", "5\r\nhello\r\n0\r\n\r\n", after: head("POST /count", [])),
    following("A body comes with a GET that has none", "hello=1\r\n\r\n"),
    following("Chunks go on behind the last", "5\r\nhello\r\n0\r\n\r\n", after: sentInChunks),
    following("Chunks end twice", "0\r\n\r\n", after: sentInChunks),
    following("Fields follow the last chunk", "X-User-ID: 1\r\n\r\n", after: sentInChunks),
    following("Chunks are followed by the next method", "X\(next)", after: sentInChunks, status: 405),
    following("JSON follows a body", "{\"n\":1}", after: posted),
  ]
}
