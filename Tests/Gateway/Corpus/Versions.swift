/// The version at the end of the request line.
extension RawRequest {
  private static let unknown = ["0.0", "0.9", "1.2", "1.3", "1.9", "2.0", "2.1", "3.0", "9.9"]

  private static let garbage = [
    "http/1.1", "Http/1.1", "HTTp/1.1", "HTTP", "HTTP/", "HTTP/1", "HTTP/2", "HTTP/1.", "HTTP/.1", "HTTP/11",
    "HTTP/1.10", "HTTP/1.01", "HTTP/01.1", "HTTP/10.1", "HTTP/1.1.1", "HTTP/1,1", "HTTP/1:1", "HTTP/1.1x", "HTTP/1.x",
    "HTTP/a.b", "HTTP/-1.1", "HTTP/1.-1", "HTTP/+1.1", "HTTP/0x1.1", "HTTP//1.1", "HTTP/ 1.1", "HTTP /1.1",
    "HTTP/1 .1", "HTTP/1. 1", "HTTP-1.1", "HTTP\\1.1", "HTTP1.1", "HTTPS/1.1", "HTP/1.1", "XHTTP/1.1", "ICY/1.1",
    "\"HTTP/1.1\"", "HTTP/1.1;q=1", "HTTP/1.1,HTTP/1.0", "HTTP/１.１", "HTTP/1\u{0}.1", "HTTP/1.1\u{0B}", "1.1", "/1.1",
  ]

  static let versions: [RawRequest] = Array([unsupported, unreadable, otherProtocols].joined())

  private static let unsupported: [RawRequest] = unknown.map {
    requestLine("The version \($0) is not spoken", "GET /echo HTTP/\($0)", status: 505)
  }

  private static let unreadable: [RawRequest] = garbage.map {
    requestLine("\($0.debugDescription) is no version", "GET /echo \($0)")
  }

  private static let otherProtocols: [RawRequest] = [
    .init("A client speaks HTTP/2 without being asked", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 505),
    .init("A client of HTTP/0.9 asks", "GET /echo\r\n", status: 400),
    requestLine("A POST comes in an unknown version", "POST /count HTTP/1.2", status: 505),
  ]
}
