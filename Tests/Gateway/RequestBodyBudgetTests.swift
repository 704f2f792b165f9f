import Foundation
import Support
import Testing
import Wire

@testable import Gateway

/// Bodies that arrive slowly or never do not keep other clients from the services.
@Suite struct RequestBodyBudgetTests {
  private static let head = "POST /patient HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"

  @Test func thousandsOfSlowBodiesKeepNobodyOut() async throws {
    try await withGateway { gateway in
      let count = 2250
      let slow = try await connections(count, to: gateway) { _ in Self.head + "a" }
      let bodies = gateway.server.state.bodyBudget
      try await eventually("their arrival") { bodies.reservedBytes == count * 4096 }
      #expect(await gateway.bufferedBytes < count * 1024)
      #expect(gateway.service.connections == 0)
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<40 {
          group.addTask {
            // Also clients that share an address with the slow ones.
            let other = try await RawConnection(port: gateway.port, from: "127.0.0.\(2 + number % 6)")
            try await other.send(number.isMultiple(of: 2) ? Self.head + "ab" : Self.get)
            return try await other.responses(1)[0].status
          }
        }
        for try await status in group { #expect(status == 200) }
      }
      // None of them was refused: a client that continues is served.
      for connection in slow.prefix(20) {
        try await connection.send("b" + Self.get)
        #expect(try await connection.responses(2).map(\.status) == [200, 200])
      }
      for connection in slow { connection.close() }
      try await eventually("their end") { bodies.reservedBytes == 0 }
    }
  }

  private static let get = "GET /echo?n=1 HTTP/1.1\r\nHost: x\r\n\r\n"

  @Test func oneAddressCannotFillTheMemory() async throws {
    try await withGateway { gateway in
      let size = 60 * 1024
      let head = "POST /patient HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n"
      let body = String(repeating: "a", count: size - 1)
      let bodies = gateway.server.state.bodyBudget
      var greedy: [RawConnection] = []
      var refused = 0
      while refused == 0, greedy.count < 500 {
        let next = try await RawConnection(port: gateway.port, from: "127.0.0.2")
        greedy.append(next)
        let before = bodies.reservedBytes
        try await next.send(head + body)
        try await eventually("its end or its arrival") {
          refused = RawResponse.all(in: try await next.received()).count { $0.status == 429 }
          return refused > 0 || bodies.reservedBytes >= before + 64 * 1024
        }
      }
      #expect(refused == 1)
      #expect(bodies.reservedBytes <= RequestBodyBudget.reservedBytesMax / 16)
      let other = try await RawConnection(port: gateway.port, from: "127.0.0.3")
      try await other.send(head)
      try await other.send(body)
      try await other.send("a")
      #expect(try await other.responses(1).map(\.status) == [200])
      for connection in greedy { connection.close() }
      try await eventually("their end") { bodies.reservedBytes == 0 }
    }
  }

  @Test func oneAddressCannotTakeAllConnectionsForLargeBodies() async throws {
    try await withGateway { gateway in
      let size = 100_000
      let head = "POST /patient-large HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n"
      let bodies = gateway.server.state.bodyBudget
      let greedy = try await connections(50, to: gateway, from: ["127.0.0.2"]) { _ in head + "a" }
      try await eventually("their verdicts") {
        var refused = 0
        for connection in greedy {
          for response in RawResponse.all(in: try await connection.received()) {
            #expect(response.status == 429)
            refused += 1
          }
        }
        return refused == greedy.count - 30
      }
      #expect(bodies.streamCount(to: .credits) == 30)
      let other = try await RawConnection(port: gateway.port, from: "127.0.0.3")
      try await other.send(head + String(repeating: "a", count: size))
      #expect(try await other.responses(1).map(\.status) == [200])
      for connection in greedy { connection.close() }
      try await eventually("their end") { bodies.streamCount(to: .credits) == 0 && bodies.reservedBytes == 0 }
    }
  }

  /// Forty addresses with 512 connections each would use up `CONNECTIONS_MAX`.
  @Test(arguments: [(RequestBodyBudget.streamsMax, 1), (RequestBodyBudget.reservedBytesMax, 64 * 1024)])
  func howeverManyAreGreedySomethingIsLeftForWhoeverComesNext(supply: Int, amount: Int) {
    var share = FairShare(of: supply)
    for number in 1...40 {
      let address = IPAddress(v4: UInt32(number))
      let isServed = share.take(amount, for: address)
      #expect(isServed, "\(number)")
      while share.take(amount, for: address) {}
    }
    #expect(supply - share.taken > supply / 16)
    let first = IPAddress(v4: 1)
    let (held, before) = (share.taken(by: first), share.taken)
    #expect(held > supply / 20)
    share.release(held, of: first)
    #expect(share.taken(by: first) == 0 && share.taken == before - held)
    let tooMuch = share.take(supply, for: first)
    #expect(!tooMuch)
  }

  @Test func refusalsComeBeforeTheBody() async throws {
    try await withGateway(["RATE_LIMIT_SIGN_IN": "1"]) { gateway in
      #expect(try await gateway.browser.post("/try").status == 200)
      let (length, chunks) = ("Content-Length: 5", "Transfer-Encoding: chunked")
      let heads = [
        ("POST /upload", length, 401), ("POST /nowhere", chunks, 404), ("PUT /count", length, 405),
        ("POST /small", "Content-Length: 1025", 413), ("POST /try", length, 429), ("POST /away", chunks, 503),
        ("POST /away", "Expect: 100-continue\r\n\(length)", 503),
      ]
      for (line, framing, status) in heads {
        let raw = try await RawConnection(port: gateway.port)
        try await raw.send("\(line) HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n")
        #expect(try await raw.responses(1).map(\.status) == [status], "\(line) \(framing)")
        raw.close()
      }
      #expect(gateway.service.requests == 1 && gateway.server.state.bodyBudget.reservedBytes == 0)
    }
  }

  @Test(arguments: [("/patient", 5), ("/patient-large", 100_000)])
  func whoAsksWhetherToGoOnIsToldSoAlsoWhenTheBodyIsSlow(path: String, size: Int) async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send("POST \(path) HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: \(size)\r\n\r\n")
      try await eventually("100") { try await raw.received() == "HTTP/1.1 100 Continue\r\n\r\n" }
      try await raw.send("h")
      try await raw.send(String(repeating: "e", count: size - 1) + Self.get)
      try await eventually("both answers") {
        let text = try await raw.received()
        return text.contains("\"bytes\":\(size)") && text.contains("\"n\":\"1\"")
      }
      #expect(try await raw.received().components(separatedBy: "100 Continue").count == 2, "told once")
    }
  }

  /// The service's timeout does not include the time for a body that is already buffered.
  @Test func aGatheredBodyIsTheServicesFromItsFirstByte() async throws {
    try await withGateway { gateway in
      let half = String(repeating: "a", count: 20_000)
      let chunk = "4e20\r\n\(half)\r\n"
      let bodies = [
        ("Content-Length: 40000", [half, half]), ("Transfer-Encoding: chunked", [chunk, chunk, "0\r\n\r\n"]),
      ]
      for (framing, pieces) in bodies {
        let before = gateway.service.requests
        let raw = try await RawConnection(port: gateway.port)
        try await raw.send("POST /patient HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n")
        for piece in pieces.dropLast() { try await raw.send(piece) }
        let sent = pieces.dropLast().reduce(0) { $0 + $1.utf8.count }
        try await eventually("what was sent") { gateway.server.state.bodyBudget.reservedBytes >= sent }
        #expect(gateway.service.requests == before)
        try await raw.send(pieces.last ?? "")
        try await eventually("the answer") { try await raw.received().contains("\"bytes\":40000,") }
        #expect(try await raw.received().contains("\"timeout\":\"7000\""))
        raw.close()
      }
    }
  }

  @Test func chunksThatAreWrongOrTooManyNeverReachAService() async throws {
    try await withGateway { gateway in
      let head = "POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      for (chunks, status) in [
        ("1\r\na\r\nzz", 400), ("1\r\nab", 400), ("401\r\n" + String(repeating: "a", count: 1025), 413),
      ] {
        let raw = try await RawConnection(port: gateway.port)
        try await raw.send(head)
        // `try?`: the request may be refused before all of it is sent.
        for byte in chunks.prefix(8) { try? await raw.send(String(byte)) }
        try? await raw.send(String(chunks.dropFirst(8)))
        #expect(RawResponse.all(in: try await raw.untilClosed()).map(\.status) == [status], "\(chunks.prefix(8))")
      }
      #expect(gateway.service.requests == 0 && gateway.server.state.bodyBudget.reservedBytes == 0)
    }
  }

  @Test func whoeverGivesUpInTheMiddleLeavesNothingBehind() async throws {
    try await withGateway { gateway in
      let bodies = gateway.server.state.bodyBudget
      let small = try await RawConnection(port: gateway.port)
      try await small.send(Self.head + "a")
      let large = try await RawConnection(port: gateway.port)
      try await large.send("POST /patient-large HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\na")
      try await eventually("both") { bodies.reservedBytes == 4096 && bodies.streamCount(to: .credits) == 1 }
      small.close()
      large.close()
      try await eventually("nothing") { bodies.reservedBytes == 0 && bodies.streamCount(to: .credits) == 0 }
      #expect(gateway.service.completedBodies == 0)
    }
  }

  /// - Parameter first: what the connection with this number sends.
  private func connections(
    _ count: Int, to gateway: TestGateway, from addresses: [String] = (2...6).map { "127.0.0.\($0)" },
    _ first: @escaping @Sendable (Int) -> String
  ) async throws -> [RawConnection] {
    try await withThrowingTaskGroup(of: [RawConnection].self) { group in
      let workers = 8
      for worker in 0..<workers {
        group.addTask {
          var opened: [RawConnection] = []
          for number in stride(from: worker, to: count, by: workers) {
            let raw = try await RawConnection(port: gateway.port, from: addresses[number % addresses.count])
            try await raw.send(first(number))
            opened.append(raw)
          }
          return opened
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }
}

extension RawConnection {
  /// Waits for `count` responses.
  fileprivate func responses(_ count: Int) async throws -> [RawResponse] {
    var responses: [RawResponse] = []
    try await eventually("\(count) answers") {
      responses = RawResponse.all(in: try await received())
      return responses.count >= count
    }
    return responses
  }
}
