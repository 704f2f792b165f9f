import Foundation
import NIOCore
import Support
import Testing

@testable import Web

/// What a service's connections accept and respond, byte by byte.
@Suite struct ConnectionTests {
  private static let get = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test func requestsOfAConnectionAreRespondedToInTheirOrder() async throws {
    try await withEchoServer { server in
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

  @Test func aHeadMayArriveByteByByte() async throws {
    try await withEchoServer { server in
      let connection = try await server.connect()
      for byte in Self.get.utf8 { try await connection.send([byte]) }
      try await eventually("the response") { try await connection.received().hasSuffix("GET /echo 0") }
      connection.close()
    }
  }

  @Test(arguments: [
    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "GET /echo HTTP/1.1\r\n\r\n",
    "GET /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET /echo HTTP/1.1\nHost: a\n\n",
    "GET /echo HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n", "GET /../echo HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /%2e%2e%2fecho HTTP/1.1\r\nHost: a\r\n\r\n", "GET /echo HTTP/1.1\r\nHost: a\r\nX_User_ID: 1\r\n\r\n",
    "GET /echo HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n", "\u{16}\u{3}\u{1}\u{0}",
  ]) func whatTwoProgramsCouldReadDifferentlyIsRefused(request: String) async throws {
    try await withEchoServer { server in
      let connection = try await server.connect()
      try await connection.send(request)
      let text = try await connection.untilClosed()
      #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n") && text.contains("malformed_request"))
      #expect(text.contains("connection: close"))
      #expect(server.count == 0)
    }
  }

  @Test(arguments: [
    ("TRACE /echo HTTP/1.1\r\nHost: a\r\n\r\n", 405), ("GET /echo HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    ("GET /\(String(repeating: "x", count: 9000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    ("GET /echo HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 25 * 1024))\r\n\r\n", 431),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: tea\r\n\r\n", 417),
  ]) func whatIsNotServedSaysWhy(request: String, status: Int) async throws {
    try await withEchoServer { server in
      let connection = try await server.connect()
      try await connection.send(request)
      #expect(try await connection.untilClosed().hasPrefix("HTTP/1.1 \(status) "))
    }
  }

  @Test func bodiesAreReadHoweverTheyArrive() async throws {
    try await withEchoServer { server in
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

  @Test func aMalformedChunkEndsTheRequestAndTheConnection() async throws {
    try await withEchoServer { server in
      let connection = try await server.connect()
      try await connection.send(
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\nx\r\n0\r\n\r\n" + Self.get)
      let text = try await connection.untilClosed()
      #expect(text.hasPrefix("HTTP/1.1 400 ") && text.contains("connection: close"))
      #expect(server.count == 1)
    }
  }

  @Test func whoWaitsForContinueIsTold() async throws {
    try await withEchoServer { server in
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

  @Test func anEarlyResponseKeepsTheConnectionWhereLittleIsMissing() async throws {
    try await withEchoServer { server in
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

  @Test func streamsAreChunkedAndCutOffVisibly() async throws {
    try await withEchoServer { server in
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

  @Test func someStatusesHaveNoBodyAndNoLength() async throws {
    try await withEchoServer { server in
      for status in [204, 304] {
        let connection = try await server.connect()
        try await connection.send("GET /\(status) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let text = try await connection.untilClosed()
        #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.hasSuffix("\r\n\r\n"))
        #expect(!text.contains("ontent-") && !text.contains("chunked"))
      }
    }
  }

  @Test func whoReadsSlowlyGetsEverything() async throws {
    try await withEchoServer { server in
      let slow = try await server.connect(receiveBytes: 8 * 1024)
      try await slow.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let text = try await slow.untilClosed()
      #expect(text.utf8.count > server.largeBytes)
    }
  }

  @Test func partsOfAKnownLengthAreSentAsTheyCome() async throws {
    try await withEchoServer { server in
      let connection = try await server.connect()
      try await connection.send("GET /parts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let text = try await connection.untilClosed()
      #expect(text.contains("Content-Length: 1000000\r\n") || text.contains("content-length: 1000000\r\n"))
      #expect(text.utf8.count > 1_000_000)
    }
  }

  @Test func whoNeverReadsIsCutOff() async throws {
    try await withEchoServer(.init(write: .milliseconds(300))) { server in
      let never = try await server.connect(receiveBytes: 8 * 1024)
      try await never.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the end of the request") { server.cutCount == 1 }
      never.close()
    }
  }

  @Test func whatIsWrittenReachesWhoStopsSendingOrIsNotWaitedFor() async throws {
    let readers = try await withEchoServer { server in
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

  @Test func theHeadOfAStreamComesBeforeItsFirstPart() async throws {
    try await withEchoServer { server in
      let connection = try await server.connect()
      try await connection.send("GET /late-stream HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the head") { try await connection.received().hasSuffix("chunked\r\n\r\n") }
      server.goOn.send()
      try await eventually("the end") { try await connection.received().hasSuffix("0\r\n\r\n") }
      connection.close()
    }
  }

  @Test func aStreamIsToldThatItsClientHasEndedItsSideOrHasGone() async throws {
    try await withEchoServer { server in
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

  @Test func silentAndDrippingConnectionsEnd() async throws {
    try await withEchoServer(ConnectionTimeouts(idle: .milliseconds(400))) { server in
      let silent = try await server.connect()
      #expect(try await silent.untilClosed() == "")
    }
    // A head that a busy machine sends late is not taken for silence.
    try await withEchoServer(ConnectionTimeouts(head: .milliseconds(300), body: .milliseconds(300))) { server in
      let body = try await server.connect()
      try await body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc")
      #expect(try await body.untilClosed().hasPrefix("HTTP/1.1 408 "))
      let dripping = try await server.connect()
      await #expect(throws: (any Error).self) {
        for _ in 0..<2000 {
          try await dripping.send("G")
          try await Task.sleep(for: .milliseconds(20))
          _ = try await dripping.received()
        }
      }
      #expect(server.count == 0)
    }
  }

  @Test func aRequestThatIsBrokenOffFails() async throws {
    try await withEchoServer { server in
      let connection = try await server.connect()
      try await connection.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\nabc")
      try await eventually("the request") { server.count == 1 }
      try await connection.endOutput()
      #expect(try await connection.untilClosed().hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test func aStopEndsIdleConnectionsAtOnceAndOthersAfterTheirResponse() async throws {
    let (idle, busy) = try await withEchoServer { server in
      let idle = try await server.connect()
      try await idle.send(Self.get)
      try await eventually("the response") { try await idle.received().hasSuffix("GET /echo 0") }
      let busy = try await server.connect()
      try await busy.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the request") { server.count == 2 }
      let ended = Task {
        // The response may begin once the stop has, whenever that is.
        defer { server.goOn.send() }
        return try await idle.untilClosed()
      }
      return (ended, busy)
    }
    #expect(try await idle.value.hasSuffix("GET /echo 0"))
    let text = try await busy.untilClosed()
    #expect(text.hasSuffix("GET /held 0") && text.contains("connection: close"))
  }
}
