import Foundation
import NIOCore
import Support
import Testing

@testable import Web

/// What a service's connections accept and respond, byte by byte.
@Suite struct ConnectionTests {
  private static let get = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test(arguments: Transport.allCases) func requestsOfAConnectionAreRespondedToInTheirOrder(_ transport: Transport)
    async throws
  {
    try await withEchoServer(over: transport) { server in
      let connection = try await server.connect()
      try await connection.send(
        "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get + "HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n")
      try await connection.send("GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let text = try await connection.untilClosed()
      #expect(text.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 5)
      // The third is the HEAD: its length is that of the GET, and it has no body.
      #expect(text.components(separatedBy: "GET /echo ").count == 3 && text.contains("GET /slow "))
      #expect(text.range(of: "GET /slow ")!.lowerBound < text.range(of: "GET /echo ")!.lowerBound)
      #expect(text.components(separatedBy: "connection: close").count == 2)
    }
  }

  @Test(arguments: Transport.allCases) func aHeadMayArriveByteByByte(_ transport: Transport) async throws {
    try await withEchoServer(over: transport) { server in
      let connection = try await server.connect()
      for byte in Self.get.utf8 { try await connection.send([byte]) }
      try await eventually("the response") { try await connection.received().hasSuffix("GET /echo 0") }
      connection.close()
    }
  }

  @Test(
    arguments: [
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "GET /echo HTTP/1.1\r\n\r\n",
      "GET /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET /echo HTTP/1.1\nHost: a\n\n",
      "GET /echo HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n", "GET /../echo HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /%2e%2e%2fecho HTTP/1.1\r\nHost: a\r\n\r\n", "GET /echo HTTP/1.1\r\nHost: a\r\nX_User_ID: 1\r\n\r\n",
      "GET /echo HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n", "\u{16}\u{3}\u{1}\u{0}",
    ], Transport.allCases) func whatTwoProgramsCouldReadDifferentlyIsRefused(request: String, transport: Transport)
    async throws
  {
    try await withEchoServer(over: transport) { server in
      let connection = try await server.connect()
      try await connection.send(request)
      let text = try await connection.untilClosed()
      #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n") && text.contains("malformed_request"))
      #expect(text.contains("connection: close"))
      #expect(server.count == 0)
    }
  }

  @Test(
    arguments: [
      ("TRACE /echo HTTP/1.1\r\nHost: a\r\n\r\n", 405), ("GET /echo HTTP/2.0\r\nHost: a\r\n\r\n", 505),
      ("GET /\(String(repeating: "x", count: 9000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
      ("GET /echo HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 25 * 1024))\r\n\r\n", 431),
      ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: tea\r\n\r\n", 417),
    ], Transport.allCases) func whatIsNotServedSaysWhy(_ refused: (request: String, status: Int), transport: Transport)
    async throws
  {
    try await withEchoServer(over: transport) { server in
      let connection = try await server.connect()
      try await connection.send(refused.request)
      #expect(try await connection.untilClosed().hasPrefix("HTTP/1.1 \(refused.status) "))
    }
  }

  @Test(arguments: Transport.allCases) func bodiesAreReadHoweverTheyArrive(_ transport: Transport) async throws {
    try await withEchoServer(over: transport) { server in
      let small = try await server.connect()
      try await small.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
      try await Task.sleep(for: .milliseconds(30))
      #expect(server.count == 0)
      try await small.send("def")
      try await eventually("the response") { try await small.received().hasSuffix("POST /echo 6") }

      let chunks =
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        + String(repeating: "1\r\nx\r\n", count: 3000) + "0\r\n\r\n"
      try await small.send(chunks + Self.get)
      try await eventually("both responses") {
        let text = try await small.received()
        return text.contains("POST /echo 3000") && text.hasSuffix("GET /echo 0")
      }

      let large = 3_000_000
      try await small.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(large)\r\n\r\n")
      try await small.send(repeatElement(UInt8(ascii: "x"), count: large))
      try await eventually("the third response") { try await small.received().hasSuffix("PUT /echo \(large)") }
      small.close()
    }
  }

  @Test(arguments: Transport.allCases) func aMalformedChunkEndsTheRequestAndTheConnection(_ transport: Transport)
    async throws
  {
    try await withEchoServer(over: transport) { server in
      let connection = try await server.connect()
      try await connection.send(
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\nx\r\n0\r\n\r\n" + Self.get)
      let text = try await connection.untilClosed()
      #expect(text.hasPrefix("HTTP/1.1 400 ") && text.contains("connection: close"))
      #expect(server.count == 1)
    }
  }

  @Test(arguments: Transport.allCases) func whoWaitsForContinueIsTold(_ transport: Transport) async throws {
    try await withEchoServer(over: transport) { server in
      for length in [5, 20_000] {
        let connection = try await server.connect()
        try await connection.send(
          "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\nExpect: 100-continue\r\n\r\n")
        try await eventually("100") { try await connection.received() == "HTTP/1.1 100 Continue\r\n\r\n" }
        try await connection.send(String(repeating: "x", count: length))
        try await eventually("200") { try await connection.received().hasSuffix("POST /echo \(length)") }
        connection.close()
      }
    }
  }

  @Test(arguments: Transport.allCases) func anEarlyResponseKeepsTheConnectionWhereLittleIsMissing(
    _ transport: Transport
  ) async throws {
    try await withEchoServer(over: transport) { server in
      let kept = try await server.connect()
      try await kept.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n")
      try await eventually("the response") { try await kept.received().hasSuffix("early") }
      try await kept.send(String(repeating: "x", count: 20_000) + Self.get)
      try await eventually("the next response") { try await kept.received().hasSuffix("GET /echo 0") }
      kept.close()

      for framing in ["Content-Length: 9000000", "Transfer-Encoding: chunked"] {
        let closed = try await server.connect()
        try await closed.send("POST /early HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
        let text = try await closed.untilClosed()
        #expect(text.hasSuffix("early") && text.contains("connection: close"))
      }
    }
  }

  @Test(arguments: Transport.allCases) func streamsAreChunkedAndCutOffVisibly(_ transport: Transport) async throws {
    try await withEchoServer(over: transport) { server in
      let whole = try await server.connect()
      try await whole.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the end") { try await whole.received().hasSuffix("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n") }
      whole.close()
      let old = try await server.connect()
      try await old.send("GET /stream HTTP/1.0\r\n\r\n")
      #expect(try await old.untilClosed().hasSuffix("\r\n\r\nonetwo"))
      for path in ["/broken-stream", "/broken-length"] {
        let cut = try await server.connect()
        try await cut.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get)
        let text = try await cut.untilClosed()
        #expect(text.contains("one") && !text.hasSuffix("0\r\n\r\n") && !text.contains("GET /echo"))
      }
    }
  }

  @Test(arguments: Transport.allCases) func someStatusesHaveNoBodyAndNoLength(_ transport: Transport) async throws {
    try await withEchoServer(over: transport) { server in
      for status in [204, 304] {
        let connection = try await server.connect()
        try await connection.send("GET /\(status) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let text = try await connection.untilClosed()
        #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.hasSuffix("\r\n\r\n"))
        #expect(!text.contains("ontent-") && !text.contains("chunked"))
      }
    }
  }

  @Test(arguments: Transport.allCases) func whoReadsSlowlyGetsEverything(_ transport: Transport) async throws {
    try await withEchoServer(over: transport) { server in
      let slow = try await server.connect(receiveBytes: 8 * 1024)
      try await slow.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let text = try await slow.untilClosed()
      #expect(text.utf8.count > server.largeBytes)
    }
  }

  @Test(arguments: Transport.allCases) func partsOfAKnownLengthAreSentAsTheyCome(_ transport: Transport) async throws {
    try await withEchoServer(over: transport) { server in
      let connection = try await server.connect()
      try await connection.send("GET /parts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let text = try await connection.untilClosed()
      #expect(text.contains("Content-Length: 1000000\r\n") || text.contains("content-length: 1000000\r\n"))
      #expect(text.utf8.count > 1_000_000)
    }
  }

  @Test(arguments: Transport.allCases) func whoNeverReadsIsCutOff(_ transport: Transport) async throws {
    try await withEchoServer(.init(write: .milliseconds(300)), over: transport) { server in
      let never = try await server.connect(receiveBytes: 8 * 1024)
      try await never.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the end of the request") { server.cutCount == 1 }
      never.close()
    }
  }

  @Test(arguments: Transport.allCases) func whatIsWrittenReachesWhoStopsSendingOrIsNotWaitedFor(_ transport: Transport)
    async throws
  {
    let readers = try await withEchoServer(over: transport) { server in
      let halfClosed = try await server.connect(receiveBytes: 8 * 1024)
      try await halfClosed.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
      try await halfClosed.endOutput()
      let stopped = try await server.connect(receiveBytes: 8 * 1024)
      try await stopped.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("both requests") { server.count == 2 }
      return [halfClosed, stopped].map { connection in Task { try await connection.untilClosed().utf8.count } }
    }
    for reader in readers { #expect(try await reader.value > EchoServer.bigBytes) }
  }

  @Test(arguments: Transport.allCases) func theHeadOfAStreamComesBeforeItsFirstPart(_ transport: Transport) async throws
  {
    try await withEchoServer(over: transport) { server in
      let connection = try await server.connect()
      try await connection.send("GET /late-stream HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the head") { try await connection.received().hasSuffix("chunked\r\n\r\n") }
      server.goOn.send()
      try await eventually("the end") { try await connection.received().hasSuffix("0\r\n\r\n") }
      connection.close()
    }
  }

  @Test(arguments: Transport.allCases) func aStreamIsToldThatItsClientHasEndedItsSideOrHasGone(_ transport: Transport)
    async throws
  {
    try await withEchoServer(over: transport) { server in
      let request = "GET /until-client-end HTTP/1.1\r\nHost: a\r\n\r\n"
      for isBegun in [true, false] {
        let halfClosed = try await server.connect()
        try await halfClosed.send(request)
        if isBegun {
          try await eventually("the head") { try await halfClosed.received().hasSuffix("chunked\r\n\r\n") }
        }
        try await halfClosed.endOutput()
        #expect(try await halfClosed.untilClosed().hasSuffix("5\r\nended\r\n4\r\nstay\r\n0\r\n\r\n"))
      }
      #expect(server.cutCount == 0)
      let closed = try await server.connect()
      try await closed.send(request)
      try await eventually("the head") { try await closed.received().hasSuffix("chunked\r\n\r\n") }
      closed.close()
      try await eventually("the end of the stream") { server.cutCount == 1 }
    }
  }
}
