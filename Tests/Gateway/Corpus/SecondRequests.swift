/// What follows a good request in the same bytes.
extension RawRequest {
  private static let next = "GET /echo?n=2 HTTP/1.1\r\nHost: kith.test\r\n\r\n"
  private static let chunks = "Transfer-Encoding: chunked"
  private static let posted = "\(head("POST /count", ["Content-Length: 5"]))hello"
  private static let sentInChunks = "\(head("POST /count", [chunks]))5\r\nhello\r\n0\r\n\r\n"

  static let secondHeads: [RawRequest] = [
    behind("A second request has no Host", "GET /echo HTTP/1.1\r\n\r\n"),
    behind("A second request has two Hosts", head("GET /echo", ["Host: evil.example"])),
    behind("A second request has bare line feeds", "GET /echo HTTP/1.1\nHost: kith.test\n\n"),
    behind("A second request has both framings", head("POST /count", ["Content-Length: 5", chunks])),
    behind("A second request has two lengths", head("POST /count", ["Content-Length: 5", "Content-Length: 6"])),
    behind("A second request has an unknown coding", head("POST /count", ["Transfer-Encoding: gzip, chunked"])),
    behind("A second request is spoofed", head("GET /echo", ["X_User_ID: 1"])),
    behind("A second request is continued", head("GET /echo", ["X-Other: a", " b"])),
    behind("A second request climbs out", head("GET /echo/../internal/x", [])),
    behind("A second request climbs out in disguise", head("GET /%2e%2e/internal/x", [])),
    behind("A second request is absolute", head("GET http://kith.test/echo", [])),
    behind("A second request has a body by GET", "\(head("GET /echo", ["Content-Length: 5"]))hello"),
    behind("A second request disarms the gateway", head("GET /echo", ["Connection: X-User-ID"])),
    behind("A second request is a TRACE", head("TRACE /echo", []), status: 405),
    behind("A second request has a long target", head("GET /\(filler(9000))", []), status: 414),
    behind("A second request expects too much", head("POST /count", ["Expect: x"]), status: 417),
    behind("A second request has a large head", headOf(16 * 1024 + 1), status: 431),
    behind("A second request opens a WebSocket", head("GET /echo", ["Upgrade: websocket"]), status: 501),
    behind("A second request is of an unknown version", "GET /echo HTTP/2.0\r\nHost: kith.test\r\n\r\n", status: 505),
    behind("HTTP/2 begins behind a good request", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 505),
    behind(
      "A body that is too long follows", head("POST /small", ["Content-Length: 9223372036854775807"]), status: 413),
    behind("An internal path follows", head("GET /internal/x", ["Connection: close"]), status: 404),
    behind("A second request has no Host behind a body", "GET /echo HTTP/1.1\r\n\r\n", after: posted),
    behind("A second request has no Host behind chunks", "GET /echo HTTP/1.1\r\n\r\n", after: sentInChunks),
    behind(
      "A second request has no Host behind an empty body", "GET / HTTP/1.1\r\n\r\n",
      after: head("POST /count", ["Content-Length: 0"])),
  ]

  /// A body is over where it said it would be.
  static let leftovers: [RawRequest] = [
    behind("An empty line stands between two requests", "\r\n\(next)"),
    behind("An empty line stands behind a body", "\r\n\(next)", after: posted),
    behind("An empty line stands behind chunks", "\r\n\(next)", after: sentInChunks),
    behind("A line feed stands between two requests", "\n\(next)"),
    behind("A space stands between two requests", " \(next)"),
    behind("A NUL stands between two requests", "\0\(next)"),
    behind("A body goes on", "world\r\n\r\n", after: posted),
    behind("A body goes on as a form", "&n=1\r\n\r\n", after: posted),
    behind("A body goes on as the next method", "G\(next)", after: posted, status: 405),
    behind("A body goes on behind a length of zero", "n=1\r\n\r\n", after: head("POST /count", ["Content-Length: 0"])),
    behind("A body comes without any length", "n=1&m=2\r\n\r\n", after: head("POST /count", [])),
    behind("Chunks come without a coding", "5\r\nhello\r\n0\r\n\r\n", after: head("POST /count", [])),
    behind("A body comes with a GET that has none", "hello=1\r\n\r\n"),
    behind("Chunks go on behind the last", "5\r\nhello\r\n0\r\n\r\n", after: sentInChunks),
    behind("Chunks end twice", "0\r\n\r\n", after: sentInChunks),
    behind("Fields follow the last chunk", "X-User-ID: 1\r\n\r\n", after: sentInChunks),
    behind("Chunks are followed by the next method", "X\(next)", after: sentInChunks, status: 405),
    behind("JSON follows a body", "{\"n\":1}", after: posted),
  ]
}
