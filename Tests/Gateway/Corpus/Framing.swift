/// Framing of bodies: all programs must agree where a body ends.
extension RawRequest {
  private static let wrongLengths = [
    "", " ", "\t", "+5", "-5", "--5", "5.0", "5.", ".5", "5e0", "0x5", "0b101", "0o5", "5a", "a5", "5h", "five", "5 0",
    "5\t0", "5 5", "5,5", "5, 5", "5,", ",5", "5;", "5;q=1", "\"5\"", "'5'", "(5)", "[5]", "5_0", "5'0", "5%30", "%35",
    "５", "٥", "5\u{A0}", "\u{FEFF}5", "5\u{200B}", "NaN", "Infinity", "null", "true", "*", "chunked", "5 bytes",
    "0,5", "5\\", "5/", "#5", "00000000000000000005", "18446744073709551616", "18446744073709551621",
    "99999999999999999999999999999999999999",
  ]

  static let lengths: [RawRequest] = Array([unreadableLengths, conflictingLengths, largeLengths].joined())

  private static let unreadableLengths: [RawRequest] = wrongLengths.map {
    post("The length \($0.debugDescription) is none", "Content-Length: \($0)", body: "hello")
  }

  private static let conflictingLengths: [RawRequest] = [
    post("Two lengths are equal", "Content-Length: 5", "Content-Length: 5", body: "hello"),
    post("Two lengths differ", "Content-Length: 5", "Content-Length: 0", body: "hello"),
    post("Two lengths differ the other way round", "Content-Length: 0", "Content-Length: 5", body: "hello"),
    post("Two lengths are zero", "Content-Length: 0", "Content-Length: 0"),
    post("Two lengths differ in the case of their names", "Content-Length: 5", "content-length: 5", body: "hello"),
    post("Two lengths are far apart", "Content-Length: 5", "Accept: */*", "CONTENT-LENGTH: 6", body: "hello!"),
    post("A second length is empty", "Content-Length: 5", "Content-Length:", body: "hello"),
    post("There are three lengths", "Content-Length: 5", "Content-Length: 5", "Content-Length: 5", body: "hello"),
  ]

  private static let largeLengths: [RawRequest] = [
    post("A length is the largest that fits", "Content-Length: 9223372036854775807", status: 413),
    post(
      "A length for a small route is the largest", to: "/small", "Content-Length: 9223372036854775807", status: 413),
    post("A length for a small route is a terabyte", to: "/small", "Content-Length: 1099511627776", status: 413),
    post("A length for a small route has a wrapped sum", to: "/small", "Content-Length: 4294967301", status: 413),
    post(
      "A length is one byte over the route's limit", to: "/small", "Content-Length: 1025", "Connection: close",
      body: filler(1025), status: 413),
    RawRequest(
      "A length of HTTP/1.0 is none", "POST /count HTTP/1.0\r\nContent-Length: +5\r\n\r\nhello", status: 400),
  ]

  private static let wrongCodings = [
    "", " ", "gzip", "deflate", "compress", "br", "identity", "trailers", "cow", "gzip, chunked", "gzip,chunked",
    "chunked, gzip", "chunked, chunked", "chunked,chunked", "identity, chunked", "chunked, identity", "chunked,",
    "chunked ,", ",chunked", ", chunked", "chunked,,", "chunked;q=1", "chunked; foo=bar", "chunked;", "xchunked",
    "x-chunked", "chunkedx", "chunke", "chunk", "chun ked", "chunked chunked", "\"chunked\"", "'chunked'", "[chunked]",
    "(chunked)", "chunked/1", "chunked=1", "chunk%65d", "\u{0B}chunked", "chunked\u{0B}", "\u{0C}chunked", "\0chunked",
    "chunked\0", "chunked\u{A0}", "\u{A0}chunked", "\u{FEFF}chunked", "chunked\u{200B}", "chun\u{212A}ed",
    "ｃhunked", "chunked\r", "chunked\n", "\nchunked", "true", "null", "5", "*",
  ]

  static let codings: [RawRequest] = Array([unreadableCodings, conflictingCodings].joined())

  private static let unreadableCodings: [RawRequest] = wrongCodings.map {
    post("The coding \($0.debugDescription) is not read", "Transfer-Encoding: \($0)", body: "0\r\n\r\n")
  }

  private static let conflictingCodings: [RawRequest] = [
    coding("Two codings are equal", "chunked", "chunked"),
    coding("A second coding is identity", "chunked", "identity"),
    coding("A first coding is identity", "identity", "chunked"),
    coding("A second coding is unknown", "chunked", "cow"),
    coding("A first coding is gzip", "gzip", "chunked"),
    coding("A second coding is empty", "chunked", ""),
    coding("A first coding is empty", "", "chunked"),
    post(
      "Two codings differ in the case of their names", "Transfer-Encoding: chunked", "transfer-encoding: chunked",
      body: "0\r\n\r\n"),
    .init(
      "A client of HTTP/1.0 sends chunks", "POST /count HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      status: 400),
    .init(
      "A client of HTTP/1.0 sends chunks and keeps the connection",
      "POST /count HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 400),
  ]

  private static func coding(_ name: String, _ first: String, _ second: String) -> RawRequest {
    post(name, "Transfer-Encoding: \(first)", "Transfer-Encoding: \(second)", body: "0\r\n\r\n")
  }
}
