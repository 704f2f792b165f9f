import Foundation
import NIOCore
import Support
import Testing
import Web

@testable import Gateway

/// Clients that still send their body when it has been refused, and read the response only after they have sent it.
@Suite struct RefusedBodyTests {
  /// A pause of a client that goes on sending, on a busy machine, is shorter.
  private static let pauseMax = TimeAmount.seconds(6)

  private struct Body: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var opening: String
    /// Sent for longer than `pauseMax` in all.
    var pieces: [String]
    var status: Int

    static let count = 20
    static let large = Array(repeating: String(repeating: "a", count: 100_000), count: count)

    static let all = [
      Body(
        testDescription: "A length that is too large", opening: "POST /small HTTP/1.1\r\nContent-Length: 2000000",
        pieces: large, status: 413),
      Body(
        testDescription: "Chunks that become too large", opening: "POST /small HTTP/1.1\r\nTransfer-Encoding: chunked",
        pieces: large.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" } + ["0\r\n\r\n"], status: 413),
      Body(
        testDescription: "A caller who is not signed in", opening: "POST /upload HTTP/1.1\r\nContent-Length: 2000000",
        pieces: large, status: 401),
      Body(
        testDescription: "A service that does not read all", opening: "POST /early HTTP/1.1\r\nContent-Length: 2000000",
        pieces: large, status: 200),
      Body(
        testDescription: "A client that does not wait for 100",
        opening: "POST /small HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2000000", pieces: large, status: 413),
    ]
  }

  @Test(arguments: Body.all) private func whoSendsItsWholeBodyFirstStillReadsTheRefusal(body: Body) async throws {
    try await withGateway(timeouts: Timeouts(linger: Self.pauseMax, refusedBody: .seconds(600))) { gateway in
      let client = try await RawConnection(port: gateway.port)
      try await client.send("\(body.opening)\r\nHost: x\r\n\r\n\(body.pieces[0])")
      gateway.service.resume()
      // Longer in all than the gateway waits for a client that has its response to close its side.
      for piece in body.pieces.dropFirst() {
        try await Task.sleep(for: .milliseconds(400))
        try await client.send(piece)
      }
      #expect(RawResponse.all(in: try await client.untilClosed()).map(\.status) == [body.status])
    }
  }

  @Test func whatFollowsARefusedBodyIsNoRequest() async throws {
    try await withGateway { gateway in
      let client = try await RawConnection(port: gateway.port)
      let body = String(repeating: "a", count: 100_000)
      try await client.send("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n\(body)")
      // `try?`: the gateway may have closed.
      try? await client.send("GET /echo?n=1 HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(RawResponse.all(in: try await client.untilClosed()).map(\.status) == [413])
      #expect(gateway.service.requests == 0)
    }
  }

  @Test func aRefusedBodyThatDripsIsCutOffInAll() async throws {
    try await withGateway(timeouts: Timeouts(refusedBody: .seconds(2))) { gateway in
      let client = try await RawConnection(port: gateway.port)
      let drip = Task {
        try await client.send("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        while true {
          try await client.send("a")
          try await Task.sleep(for: .milliseconds(50))
        }
      }
      #expect(RawResponse.all(in: try await client.untilClosed()).map(\.status) == [413])
      drip.cancel()
    }
  }

  @Test func aStopDoesNotWaitForARefusedBody() async throws {
    try await withGateway { gateway in
      let settings = gateway.stack.dependencies(of: "gateway").settings
      let stopping = try buildGateway(
        Dependencies(settings, serviceAddresses: gateway.serviceAddresses, logger: quiet), routes: TestGateway.routes,
        timeouts: Timeouts(linger: .seconds(1), refusedBody: .seconds(600)))
      let (drip, stoppedAt) = try await running([stopping]) {
        let client = try await RawConnection(port: try await stopping.port.number)
        try await client.send("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        try await eventually("the refusal") { try await client.received().contains("HTTP/1.1 413 ") }
        let drip = Task {
          while true {
            try await client.send("a")
            try await Task.sleep(for: .milliseconds(50))
          }
        }
        return (drip, ContinuousClock.now)
      }
      #expect(ContinuousClock.now - stoppedAt < .seconds(10))
      drip.cancel()
    }
  }
}
