/// The request line: its method, its spaces, its end.
extension RawRequest {
  private static let otherMethods = [
    "TRACE", "TRACK", "CONNECT", "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "SEARCH", "REPORT",
    "PURGE", "LINK", "DEBUG", "QUERY", "PRI", "M-SEARCH", "VERSION-CONTROL", "BASELINE-CONTROL", "get", "Get", "post",
    "G", "GE", "GETT", "XGET", "GET-", "GET1", "FOO",
  ]

  private static let delimiters = Array("(),/:;<=>?@[\\]{}\"")
  private static let rest = "T /echo HTTP/1.1\r\nHost: kith.test\r\n\r\n"
  private static let controls: [UInt8] = [0x00, 0x01, 0x08, 0x0B, 0x0C, 0x1B, 0x1F, 0x7F]

  static let methods: [RawRequest] = Array([unserved, delimited, controlled, outsized].joined())

  private static let unserved: [RawRequest] = otherMethods.map {
    requestLine("The method \($0) is not served", "\($0) /echo HTTP/1.1", status: 405)
  }

  private static let delimited: [RawRequest] = delimiters.map {
    requestLine("A method contains \($0)", "G\($0)T /echo HTTP/1.1")
  }

  private static let controlled: [RawRequest] = controls.map {
    embedding("A method contains the byte \($0.inHex)", "G", $0, after: rest)
  }

  private static let outsized: [RawRequest] = [
    requestLine("A method is not ASCII", "GÉT /echo HTTP/1.1"),
    embedding("A method is not UTF-8", "G", 0xC9, after: rest),
    requestLine("A method has 17 bytes", "UPDATEREDIRECTREF /echo HTTP/1.1"),
    requestLine("A method has 5000 bytes", "\(filler(5000)) /echo HTTP/1.1"),
    RawRequest("A method never ends", filler(20_000), status: 400),
  ]

  static let requestLines: [RawRequest] = [
    requestLine("A space stands before the method", " GET /echo HTTP/1.1"),
    requestLine("A tab stands before the method", "\tGET /echo HTTP/1.1"),
    requestLine("A NUL stands before the method", "\0GET /echo HTTP/1.1"),
    requestLine("A vertical tab stands before the method", "\u{0B}GET /echo HTTP/1.1"),
    requestLine("A byte order mark stands before the method", "\u{FEFF}GET /echo HTTP/1.1"),
    requestLine("Two spaces stand behind the method", "GET  /echo HTTP/1.1"),
    requestLine("A tab stands behind the method", "GET\t/echo HTTP/1.1"),
    requestLine("A space and a tab stand behind the method", "GET \t/echo HTTP/1.1"),
    requestLine("A form feed stands behind the method", "GET\u{0C}/echo HTTP/1.1"),
    requestLine("A no-break space stands behind the method", "GET\u{A0}/echo HTTP/1.1"),
    requestLine("Two spaces stand before the version", "GET /echo  HTTP/1.1"),
    requestLine("A tab stands before the version", "GET /echo\tHTTP/1.1"),
    requestLine("A vertical tab stands before the version", "GET /echo\u{0B}HTTP/1.1"),
    requestLine("A space stands behind the version", "GET /echo HTTP/1.1 "),
    requestLine("A tab stands behind the version", "GET /echo HTTP/1.1\t"),
    requestLine("A NUL stands behind the version", "GET /echo HTTP/1.1\0"),
    requestLine("A word stands behind the version", "GET /echo HTTP/1.1 x"),
    requestLine("A word stands between target and version", "GET /echo x HTTP/1.1"),
    requestLine("A space is part of the target", "GET /ec ho HTTP/1.1"),
    requestLine("The method is missing", "/echo HTTP/1.1"),
    requestLine("The method is missing before its space", " /echo HTTP/1.1"),
    requestLine("The target is missing", "GET HTTP/1.1"),
    requestLine("The target is missing between its spaces", "GET  HTTP/1.1"),
    requestLine("The version is missing", "GET /echo"),
    requestLine("The version is missing behind its space", "GET /echo "),
    requestLine("Everything but the method is missing", "GET"),
    requestLine("Everything but the method and its space is missing", "GET "),
    requestLine("Two versions are given", "GET /echo HTTP/1.1 HTTP/1.1"),
    requestLine("The version stands first", "HTTP/1.1 GET /echo"),
    requestLine("The request line is empty", ""),
    requestLine("The request line is one space", " "),
    requestLine("The request line stands in quotes", "\"GET /echo HTTP/1.1\""),
  ]
}
