/// Line ends, and bytes that are not HTTP.
extension RawRequest {
  static let lineEnds: [RawRequest] = [
    .init("All lines end with a bare line feed", "GET /echo HTTP/1.1\nHost: kith.test\n\n", status: 400),
    .init("The request line ends with a bare line feed", "GET /echo HTTP/1.1\nHost: kith.test\r\n\r\n", status: 400),
    .init("A field ends with a bare line feed", "GET /echo HTTP/1.1\r\nHost: kith.test\n\r\n", status: 400),
    .init("The head ends with a bare line feed", "GET /echo HTTP/1.1\r\nHost: kith.test\r\n\n", status: 400),
    .init("All lines end with a bare carriage return", "GET /echo HTTP/1.1\rHost: kith.test\r\r", status: 400),
    .init(
      "The request line ends with a bare carriage return", "GET /echo HTTP/1.1\rHost: kith.test\r\n\r\n", status: 400),
    .init(
      "A field ends with a bare carriage return", "GET /echo HTTP/1.1\r\nHost: kith.test\rA: b\r\n\r\n", status: 400),
    .init(
      "The head ends with a bare carriage return", "GET /echo HTTP/1.1\r\nHost: kith.test\r\n\rA: b\r\n", status: 400),
    .init(
      "The request line ends with two returns", "GET /echo HTTP/1.1\r\r\nHost: kith.test\r\n\r\n", status: 400),
    .init("A field ends with two carriage returns", "GET /echo HTTP/1.1\r\nHost: kith.test\r\r\n\r\n", status: 400),
    .init("The head ends with two carriage returns", "GET /echo HTTP/1.1\r\nHost: kith.test\r\n\r\r\n", status: 400),
    .init("Lines end the wrong way round", "GET /echo HTTP/1.1\n\rHost: kith.test\n\r\n\r", status: 400),
    .init("A line separator ends the request line", "GET /echo HTTP/1.1\u{2028}Host: kith.test\r\n\r\n", status: 400),
    .init(
      "A next-line character ends the request line", "GET /echo HTTP/1.1\u{85}Host: kith.test\r\n\r\n", status: 400),
    .init("A form feed ends the request line", "GET /echo HTTP/1.1\u{0C}Host: kith.test\r\n\r\n", status: 400),
    .init("An empty line stands first", "\r\nGET /echo HTTP/1.1\r\nHost: kith.test\r\n\r\n", status: 400),
    .init("Three empty lines stand first", "\r\n\r\n\r\nGET /echo HTTP/1.1\r\nHost: kith.test\r\n\r\n", status: 400),
    .init("A line feed stands first", "\nGET /echo HTTP/1.1\r\nHost: kith.test\r\n\r\n", status: 400),
    .init("A carriage return stands first", "\rGET /echo HTTP/1.1\r\nHost: kith.test\r\n\r\n", status: 400),
    .init("A line feed hides in the method", "G\nET /echo HTTP/1.1\r\nHost: kith.test\r\n\r\n", status: 400),
    .init("A line break hides in the target", "GET /ec\r\nho HTTP/1.1\r\nHost: kith.test\r\n\r\n", status: 400),
    .init("A carriage return hides before the version", "GET /echo \rHTTP/1.1\r\nHost: kith.test\r\n\r\n", status: 400),
    .init("The request line is continued", "GET /echo\r\n HTTP/1.1\r\nHost: kith.test\r\n\r\n", status: 400),
  ]

  /// Other protocols.
  static let foreignProtocols: [RawRequest] = [
    .init(
      "Somebody says hello in TLS", bytes: [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03],
      status: 400),
    .init("Somebody speaks SSH", "SSH-2.0-OpenSSH_9.6\r\n", status: 400),
    .init("Somebody speaks SMTP", "EHLO kith.test\r\n", status: 400),
    .init("Somebody speaks Redis", "*1\r\n$4\r\nPING\r\n", status: 400),
    .init("Somebody speaks memcached", "stats\r\n", status: 400),
    .init("Somebody speaks FTP", "USER anonymous\r\n", status: 400),
    .init("Somebody speaks SIP", "OPTIONS sip:alice@kith.test SIP/2.0\r\n\r\n", status: 400),
    .init("Somebody speaks RTSP", "OPTIONS /echo RTSP/1.0\r\nCSeq: 1\r\n\r\n", status: 400),
    .init("Somebody speaks Gopher", "/echo\r\n", status: 400),
    .init("Somebody speaks PostgreSQL", bytes: [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F], status: 400),
    .init("Somebody speaks SOCKS", bytes: [0x05, 0x01, 0x00], status: 400),
    .init(
      "A proxy announces itself in text",
      "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET /echo HTTP/1.1\r\nHost: kith.test\r\n\r\n", status: 400),
    .init(
      "A proxy announces itself in bytes",
      bytes: [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x20, 0x00, 0x00, 0x00],
      status: 400),
    .init("Somebody answers instead of asking", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", status: 400),
    .init("Somebody sends JSON alone", "{\"token\":\"x\"}\r\n\r\n", status: 400),
    .init("Somebody sends a field alone", "Host: kith.test\r\n\r\n", status: 400),
    .init("Somebody sends nonsense", "nonsense\r\n\r\n", status: 400),
    .init("Somebody sends only NULs", bytes: Array(repeating: 0, count: 64), status: 400),
  ]
}
