import AsyncHTTPClient
import Clients
import Foundation
import Gateway
import Hummingbird
import NIOCore
import NIOHTTP1
import Support
import Synchronization
import Testing
import Web
import Wire

/// Bodies on their way through the gateway: they are streamed in both directions with backpressure, and each side
/// notices when the other closes.
@Suite struct BodyStreamingTests {
  @Test func anEventPassesAtOnce() async throws {
    try await withGateway { gateway in
      let response = try await OutboundHTTP.client.execute(
        HTTPClientRequest(url: gateway.url + "/events"), timeout: .seconds(20))
      #expect(response.headers.first(name: "content-type") == "text/event-stream")
      var events = response.body.makeAsyncIterator()
      let first = try #require(await events.next())
      #expect(String(buffer: first) == "data: 1\n\n")
      // The service sends the second event only after the first has been received.
      gateway.service.resume()
      let second = try #require(await events.next())
      #expect(String(buffer: second) == "data: 2\n\n")
      #expect(try await events.next() == nil)
    }
  }

  @Test func largeBodiesGoThroughUnchangedBothWays() async throws {
    try await withGateway { gateway in
      let size = 32 * 1024 * 1024
      let up = try await gateway.browser.send(.POST, "/count", body: Data(repeating: 0x61, count: size))
      #expect(up.int("bytes") == size)
      #expect(up.string("content_length") == String(size))
      let down = try await gateway.browser.get("/download?bytes=\(size)")
      #expect(down.body.count == size)
      #expect(down.body.allSatisfy { $0 == 0x62 })
    }
  }

  /// A service that acts for a user is looked up at auth; until the reply arrives, the body waits.
  @Test func aBodyThatHadToWaitGoesOn() async throws {
    try await withGateway { gateway in
      let alice = try await gateway.stack.signIn("alice")
      let raw = try await RawConnection(port: gateway.port)
      let size = 1024 * 1024
      let head = """
        POST /upload HTTP/1.1\r\nHost: x\r\nX-Service-Key: \(TestStack.keys["sync+act"] ?? "")\r\n\
        X-User-ID: \(alice.id)\r\nContent-Length: \(size)\r\n\r\n
        """
      for number in 1...8 {
        try await raw.send(head + String(repeating: "a", count: size))
        try await eventually("answer \(number)") {
          let responses = RawResponse.all(in: try await raw.received())
          #expect(responses.allSatisfy { $0.status == 200 })
          return responses.count == number
        }
      }
      // The premise: all but the first used a connection from the pool.
      #expect(gateway.service.completedBodies == 8 && gateway.service.connections == 1)
      raw.close()
    }
  }

  @Test func clientsOfHTTP10GetNoChunks() async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send("GET /download?bytes=131072 HTTP/1.0\r\n\r\n")
      let parts = try await raw.untilClosed().components(separatedBy: "\r\n\r\n")
      #expect(parts.count == 2)
      #expect(parts[0].hasPrefix("HTTP/1.1 200 ") && !parts[0].lowercased().contains("transfer-encoding"))
      #expect(parts[1] == String(repeating: "b", count: 131_072))
    }
  }

  @Test func aSlowReaderHoldsTheServiceBack() async throws {
    try await withGateway { gateway in
      let size = 1024 * 1024 * 1024
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send("GET /download?bytes=\(size) HTTP/1.1\r\nHost: x\r\n\r\n")
      // The kernel's socket buffers may hold any amount, the gateway only little.
      try await gateway.waitUntilStalled { gateway.service.bytesSent }
      #expect(gateway.service.bytesSent < size, "the premise: the service had to wait")
      raw.close()
      try await eventually("the end of the download") { gateway.service.downloadsCutOff == 1 }
    }
  }

  @Test func aSlowServiceHoldsTheClientBack() async throws {
    try await withGateway { gateway in
      // More than the kernel's socket buffers hold, and all of it has to pass in the end.
      let (size, block) = (128 * 1024 * 1024, [UInt8](repeating: 0x61, count: 256 * 1024))
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send("POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")
      let sent = Mutex(0)
      let sending = Task {
        for _ in 0..<(size / block.count) {
          try await raw.send(block)
          sent.withLock { $0 += block.count }
        }
      }
      try await gateway.waitUntilStalled { sent.withLock { $0 } }
      #expect(sent.withLock { $0 } < size, "the premise: the client had to wait")
      gateway.service.resume()
      try await sending.value
      try await eventually("the answer") {
        try await raw.received().contains("{\"bytes\":\(size),\"content_length\":\"\(size)\"")
      }
    }
  }

  @Test func aClientThatLeavesIsReportedToTheService() async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
      try await eventually("the first event") { try await raw.received().contains("data: 1") }
      raw.close()
      try await eventually("word that the client left") { gateway.service.eventsCutOff == 1 }
    }
  }

  @Test func anAnswerThatBeganBeforeTheRequestEndedIsNotCutOff() async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      let head = "POST /early HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      try await raw.send(head + TestGateway.largeChunk)
      try await eventually("the beginning") { try await raw.received().contains("begun") }
      try await raw.send("0\r\n\r\n")
      // Longer than the service may take until its response begins.
      try await Task.sleep(for: .seconds(5))
      gateway.service.resume()
      #expect(try await raw.untilClosed().contains("done"))
    }
  }
}
