import Foundation
import Gateway
import NIOCore
import Support
import Testing

/// Slow clients, and too many connections.
@Suite struct TimeoutTests {
  @Test func aHeadThatDripsIsCutOffInAll() async throws {
    // The whole head would take ten seconds. The other client gets through within three on a busy machine, too.
    let timeouts = Timeouts(head: .seconds(3), idle: .seconds(5), write: .seconds(3), linger: .milliseconds(300))
    try await withGateway(timeouts: timeouts) { gateway in
      let slow = try await RawConnection(port: gateway.port)
      let drip = Task {
        for byte in "GET /echo?n=1 HTTP/1.1\r\nHost: " + String(repeating: "x", count: 200) {
          try await slow.send(String(byte))
          try await Task.sleep(for: .milliseconds(50))
        }
      }
      let text = try await slow.untilClosed()
      drip.cancel()
      #expect(RawResponse.all(in: text).map(\.status) == [408])
      #expect(gateway.service.requests == 0)
      #expect(try await gateway.browser.get("/echo?n=1").status == 200)
    }
  }

  @Test func aBodyThatDripsIsCutOffInAll() async throws {
    try await withGateway { gateway in
      let slow = try await RawConnection(port: gateway.port)
      let drip = Task {
        try await slow.send("POST /hurry HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
        for _ in 0..<100 {
          try await slow.send("a")
          try await Task.sleep(for: .milliseconds(50))
        }
      }
      let text = try await slow.untilClosed()
      drip.cancel()
      #expect(RawResponse.all(in: text).map(\.status) == [408])
      #expect(gateway.service.completedBodies == 0)
    }
  }

  @Test func aConnectionThatSaysNothingIsClosed() async throws {
    // The head has longer than a busy machine needs to send it.
    try await withGateway(timeouts: Timeouts(head: .seconds(5), idle: .seconds(1))) { gateway in
      let silent = try await RawConnection(port: gateway.port)
      #expect(try await silent.untilClosed().isEmpty)
      let once = try await RawConnection(port: gateway.port)
      try await once.send("GET /echo?n=1 HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(RawResponse.all(in: try await once.untilClosed()).map(\.status) == [200])
    }
  }

  @Test func aClientThatDoesNotReadItsAnswerIsCutOff() async throws {
    // Longer than a busy machine delays a client that reads.
    try await withGateway(timeouts: Timeouts(write: .seconds(5))) { gateway in
      let lazy = try await RawConnection(port: gateway.port)
      try await lazy.send("GET /download?bytes=1000000000 HTTP/1.1\r\nHost: x\r\n\r\n")
      try await eventually("the cut") { gateway.service.downloadsCutOff == 1 }
      lazy.close()
      // A client that reads gets everything, however long it takes.
      let download = try await gateway.browser.get("/download?bytes=20000000")
      #expect(download.body.count > 19_000_000)
    }
  }

  @Test func anAnswerThatFallsSilentIsCutOff() async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send("GET /quiet HTTP/1.1\r\nHost: x\r\n\r\n")
      let text = try await raw.untilClosed()
      #expect(text.contains("data: 1") && !text.contains("data: 2"))
      try await eventually("word of it") { gateway.service.eventsCutOff == 1 }
      // A route may allow longer pauses.
      let patient = try await RawConnection(port: gateway.port)
      try await patient.send("GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      try await eventually("the first event") { try await patient.received().contains("data: 1") }
      try await Task.sleep(for: .seconds(4))
      gateway.service.resume()
      #expect(try await patient.untilClosed().contains("data: 2"))
    }
  }

  @Test func aBodyHasItsTimeAlsoWhenTheAnswerHasBegun() async throws {
    try await withGateway { gateway in
      let slow = try await RawConnection(port: gateway.port)
      let head = "POST /early-hurry HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      try await slow.send(head + TestGateway.largeChunk)
      try await eventually("the beginning") { try await slow.received().contains("begun") }
      let drip = Task {
        while true {
          try await slow.send("1\r\na\r\n")
          try await Task.sleep(for: .milliseconds(50))
        }
      }
      // Without that time the client would never end.
      #expect(!(try await slow.untilClosed().contains("done")))
      drip.cancel()
      // Otherwise the service would wait forever.
      gateway.service.resume()
    }
  }

  #if os(Linux)
    /// As when the machine or the network of a client or a service fails.
    @Test func peersThatVanishAreLookedFor() async throws {
      try await withGateway { gateway in
        let raw = try await RawConnection(port: gateway.port)
        try await raw.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        try await eventually("the first event") { try await raw.received().contains("data: 1") }
        let service = try await gateway.service.listening.number
        try await eventually("the kernel's timers") {
          let table = try tcpTable()
          return hasKeepAliveTimer(table, local: gateway.port) && hasKeepAliveTimer(table, remote: service)
        }
        raw.close()
      }
    }

    /// Reads to the end: the kernel returns one page at a time, which an ordinary read takes for a short file.
    private func tcpTable() throws -> String {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/tcp"))
      defer { try? file.close() }
      var bytes = Data()
      while let page = try file.read(upToCount: 4096), !page.isEmpty { bytes += page }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether an established connection with this port has a keep-alive timer (`02:`).
    private func hasKeepAliveTimer(_ table: String, local: Int? = nil, remote: Int? = nil) -> Bool {
      table.split(separator: "\n").map { $0.split(separator: " ") }.contains { row in
        guard row.count > 5, row[3] == "01", row[5].hasPrefix("02:") else { return false }
        return local.map { isPort($0, of: row[1]) } ?? true && remote.map { isPort($0, of: row[2]) } ?? true
      }
    }

    private func isPort(_ port: Int, of address: Substring) -> Bool {
      address.split(separator: ":").last.flatMap { Int($0, radix: 16) } == port
    }
  #endif

  @Test func tooManyConnectionsFromOneAddressAreRefused() async throws {
    try await withGateway(["CONNECTIONS_PER_IP_MAX": "4"]) { gateway in
      var open: [RawConnection] = []
      for _ in 0..<8 { open.append(try await RawConnection(port: gateway.port)) }
      // The browser that checked readiness has one of the four.
      try await eventually("the refusals") { try await refused(open, "HTTP/1.1 429 ") == 5 }
      for connection in open { connection.close() }
      try await eventually("room") { try await gateway.browser.get("/echo?n=1").status == 200 }
    }
  }

  @Test func tooManyConnectionsInAllAreRefused() async throws {
    try await withGateway(["CONNECTIONS_MAX": "4"]) { gateway in
      var open: [RawConnection] = []
      for _ in 0..<8 { open.append(try await RawConnection(port: gateway.port)) }
      // The browser that checked readiness has one of the four.
      try await eventually("the refusals") { try await refused(open, "HTTP/1.1 503 ") == 5 }
      for connection in open { connection.close() }
      try await eventually("room") { try await gateway.browser.get("/echo?n=1").status == 200 }
    }
  }

  private func refused(_ connections: [RawConnection], _ response: String) async throws -> Int {
    var count = 0
    for connection in connections where try await connection.received().hasPrefix(response) { count += 1 }
    return count
  }

  @Test func aHundredThousandOneByteChunksAreOneCheapBody() async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      let chunks = String(repeating: "1\r\na\r\n", count: 100_000)
      try await raw.send(
        "POST /count HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n")
      let text = try await raw.untilClosed()
      #expect(text.contains("\"bytes\":100000"), "\(text.suffix(200))")
    }
  }
}
