/// Malformed chunks. A chunk is a size in hexadecimal digits, that many bytes, and nothing else.
extension RawRequest {
  private static let wrongSizes = [
    "", " ", "x", "zz", "g", "5g", "5h", "0x5", "0X5", "x5", "+5", "-5", "-0", " 5", "5 ", "\t5", "5\t", "5 5", "5,",
    "5.0", "5_0", "5'", "\"5\"", "(5)", "5;", "5 ;", "5;a", "5;a=b", "5; a=b", "5;a=\"b\"", "5;a=\"\r\n\"", "5;\n0",
    "5;\u{0B}", "5#", "5:", "5 # five", "000000005", "100000005", "fffffffff", "10000000000000005",
    "ffffffffffffffff", "8000000000000005", "5\0", "\05", "5\u{0B}", "\u{0C}5", "5\r", "\r5", "５", "٥", "5\u{A0}",
    "\u{FEFF}5", "five", "NaN", "%35",
  ]

  static let chunkSizes: [RawRequest] = Array([firstSizes, laterSizes, sizeLines].joined())

  private static let firstSizes: [RawRequest] = wrongSizes.map {
    chunked("The first size is \($0.debugDescription)", "\($0)\r\nhello\r\n0\r\n\r\n")
  }

  private static let laterSizes: [RawRequest] = wrongSizes.map {
    chunked("A later size is \($0.debugDescription)", "3\r\nabc\r\n\($0)\r\nhello\r\n0\r\n\r\n")
  }

  private static let sizeLines: [RawRequest] = [
    chunked("The first size ends with a bare line feed", "5\nhello\r\n0\r\n\r\n"),
    chunked("The first size ends with a bare carriage return", "5\rhello\r\n0\r\n\r\n"),
    chunked("The first size ends the wrong way round", "5\n\rhello\r\n0\r\n\r\n"),
    chunked("A later size ends with a bare line feed", "3\r\nabc\r\n5\nhello\r\n0\r\n\r\n"),
    chunked("A line feed stands before the first size", "\n5\r\nhello\r\n0\r\n\r\n"),
    chunked("There are no sizes at all", "hello world\r\n\r\n"),
    chunked("A size has a thousand zeros", "\(String(repeating: "0", count: 1000))5\r\nhello\r\n0\r\n\r\n"),
    chunked("A size never ends", String(repeating: "0", count: 100_000)),
    chunked("An extension never ends", "5;a=\(filler(100_000))"),
    chunked("A body begins with a request", "GET /internal/x HTTP/1.1\r\nHost: kith.test\r\n\r\n"),
  ]

  static let chunkData: [RawRequest] = [
    chunked("Data is shorter than its size", "5\r\nhel\r\n0\r\n\r\n"),
    chunked("Data is longer than its size", "5\r\nhello!\r\n0\r\n\r\n"),
    chunked("Data is much longer than its size", "1\r\nhello\r\n0\r\n\r\n"),
    chunked("Data has no end", "5\r\nhello0\r\n\r\n"),
    chunked("Data ends with a bare line feed", "5\r\nhello\n0\r\n\r\n"),
    chunked("Data ends with a bare carriage return", "5\r\nhello\r0\r\n\r\n"),
    chunked("Data ends with two carriage returns", "5\r\nhello\r\r\n0\r\n\r\n"),
    chunked("Data ends the wrong way round", "5\r\nhello\n\r0\r\n\r\n"),
    chunked("Data ends with two line breaks", "5\r\nhello\r\n\r\n0\r\n\r\n"),
    chunked("Data ends with other bytes", "5\r\nhelloXX0\r\n\r\n"),
    chunked("Data ends with a space", "5\r\nhello \r\n0\r\n\r\n"),
    chunked("Later data is shorter than its size", "3\r\nabc\r\n5\r\nhel\r\n0\r\n\r\n"),
    chunked("Later data ends with a bare line feed", "3\r\nabc\r\n5\r\nhello\n0\r\n\r\n"),
    chunked(
      "A request hides behind data that ends too early",
      "1\r\nZ\r\nQ\r\n\r\nGET /internal/x HTTP/1.1\r\nHost: kith.test\r\n\r\n"),
  ]

  private static let trailerLines = [
    "X-Other: a", "X-User-ID: 1", "Content-Length: 5", "Transfer-Encoding: chunked", "Host: evil.example",
    "Authorization: Bearer x", "Connection: close", "Trailer: X", ": a", "x", " ", "\tX-Other: a", "0",
  ]

  static let lastChunks: [RawRequest] = Array([trailers, lastLines].joined())

  private static let trailers: [RawRequest] = trailerLines.map {
    chunked("A body ends with the trailer \($0.debugDescription)", "5\r\nhello\r\n0\r\n\($0)\r\n\r\n")
  }

  private static let lastLines: [RawRequest] = [
    chunked("An empty body has a trailer", "0\r\nX-Other: a\r\n\r\n"),
    chunked("A body ends with many trailers", "0\r\n\(String(repeating: "A: b\r\n", count: 1000))\r\n"),
    chunked("A trailer never ends", "0\r\nX-Other: \(filler(100_000))"),
    chunked("The last size ends with a bare line feed", "0\n\r\n"),
    chunked("The last size ends with a bare carriage return", "0\r\r\n"),
    chunked("The last size ends with two carriage returns", "5\r\nhello\r\n0\r\r\n\r\n"),
    chunked("The last line ends with a bare line feed", "0\r\n\n"),
    chunked("The last line ends with two carriage returns", "5\r\nhello\r\n0\r\n\r\r\n"),
    chunked("The last line ends with another byte", "0\r\n\rX"),
    chunked("The last size has an extension", "5\r\nhello\r\n0;a=b\r\n\r\n"),
    chunked("The last size has a space behind it", "5\r\nhello\r\n0 \r\n\r\n"),
    chunked("The last size has nine zeros", "5\r\nhello\r\n000000000\r\n\r\n"),
    chunked(
      "A request stands where the last line should end",
      "0\r\nGET /internal/x HTTP/1.1\r\nHost: kith.test\r\n\r\n"),
  ]

  static let chunksOverTheLimit: [RawRequest] = [
    chunked("One chunk is too much", to: "/small", "401\r\n\(filler(1025))\r\n0\r\n\r\n", status: 413),
    chunked(
      "Two chunks are too much", to: "/small", "400\r\n\(filler(1024))\r\n1\r\na\r\n0\r\n\r\n", status: 413),
    chunked(
      "Chunks of one byte are too much", to: "/small", "\(String(repeating: "1\r\na\r\n", count: 1025))0\r\n\r\n",
      status: 413),
    chunked("A chunk of four gigabytes has begun", to: "/small", "FFFFFFFF\r\n\(filler(4096))", status: 413),
  ]
}
