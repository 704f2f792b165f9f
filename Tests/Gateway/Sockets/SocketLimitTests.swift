import Foundation
import NIOCore
import Support
import Testing

@testable import Gateway

/// How many WebSockets there may be, and how much of their bytes the gateway holds.
@Suite struct SocketLimitTests {
  private func refusal(_ gateway: SocketGateway, from address: String = "127.0.0.1") async throws -> String {
    let raw = try await RawConnection(port: gateway.port, from: address)
    try await raw.send(SocketHandshake.head())
    return try await raw.untilClosed()
  }

  @Test func anAddressHasItsShareAndNotMore() async throws {
    try await withSocketGateway(["WEBSOCKETS_PER_IP_MAX": "2"]) { gateway in
      let first = try await gateway.open()
      let second = try await gateway.open()
      let third = try await refusal(gateway)
      #expect(third.hasPrefix("HTTP/1.1 429 ") && third.contains("too_many_sockets"))
      #expect(third.lowercased().contains("\r\nretry-after: "))
      try await gateway.open(from: "127.0.0.2").close()
      first.close()
      try await eventually("the end") { gateway.counted == 1 }
      let again = try await gateway.open()
      #expect(try await gateway.metrics.contains("kith_gateway_websockets_refused_total{limit=\"address\"} 1\n"))
      // Requests are not counted.
      #expect(try await Browser("http://127.0.0.1:\(gateway.port)").get("/echo").status == 200)
      for raw in [second, again] { raw.close() }
    }
  }

  @Test func allTogetherHaveALimitToo() async throws {
    try await withSocketGateway(["WEBSOCKETS_MAX": "1"]) { gateway in
      let first = try await gateway.open()
      let second = try await refusal(gateway, from: "127.0.0.2")
      #expect(second.hasPrefix("HTTP/1.1 503 ") && second.contains("too_many_sockets"))
      #expect(second.lowercased().contains("\r\nretry-after: "))
      #expect(try await gateway.metrics.contains("kith_gateway_websockets_refused_total{limit=\"total\"} 1\n"))
      first.close()
      try await eventually("the end") { gateway.counted == 0 }
      try await gateway.open(from: "127.0.0.2").close()
    }
  }

  @Test func ofFiftyAtOnceExactlyTheLimitIsOpened() async throws {
    try await withSocketGateway(["WEBSOCKETS_PER_IP_MAX": "20", "RATE_LIMIT": "1000"]) { gateway in
      let all = try await atOnce(50) { _ in
        let raw = try await RawConnection(port: gateway.port)
        try await raw.send(SocketHandshake.head())
        try await eventually("a response") { try await raw.received().contains("\r\n\r\n") }
        return raw
      }
      #expect(all.count { $0.head.hasPrefix("HTTP/1.1 101 ") } == 20)
      #expect(all.count { $0.head.hasPrefix("HTTP/1.1 429 ") } == 30)
      for raw in all { raw.close() }
      try await eventually("the end") { gateway.counted == 0 }
    }
  }

  /// The maximum that the gateway may hold of one WebSocket whose receiver does not read: a few reads.
  private static let bufferedBytesMax = 1024 * 1024

  /// Waits until no more bytes move, and checks that the gateway holds few.
  private func waitUntilStalled(_ gateway: SocketGateway, _ moved: () -> Int) async throws {
    var before = -1
    try await eventually("the standstill") {
      let (now, buffered) = (moved(), await gateway.bufferedBytes)
      #expect(buffered < Self.bufferedBytesMax, "\(buffered)")
      defer { before = now }
      try await Task.sleep(for: .milliseconds(300))
      return now > 0 && now == before || buffered >= Self.bufferedBytesMax
    }
  }

  @Test func aClientThatDoesNotReadHoldsUpItsServiceOnly() async throws {
    try await withSocketGateway { gateway in
      let slow = try await gateway.open(.flood, receiveBytes: 8 * 1024)
      let other = try await gateway.open(.echo)
      try await waitUntilStalled(gateway) { gateway.service.bytesSent }
      let stalledAt = gateway.service.bytesSent
      try await other.send(SocketHandshake.frame("hello"))
      try await eventually("the echo") { try await other.receivedBytes().count > 0 && other.tunneled.count == 11 }
      // It goes on when the client reads, and every frame is whole.
      try await eventually("more") {
        _ = try await slow.receivedBytes()
        return gateway.service.bytesSent > stalledAt + 2 * 1024 * 1024
      }
      let bytes = slow.tunneled
      let frame = [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 0x62, count: 0x10000)
      for start in stride(from: 0, to: bytes.count - frame.count, by: frame.count) {
        guard bytes[start..<start + frame.count] == frame[...] else {
          Issue.record("a broken frame at \(start)")
          break
        }
      }
      slow.close()
      other.close()
      try await eventually("the end at the service") { gateway.service.sockets == 0 }
    }
  }

  @Test func aServiceThatDoesNotReadHoldsUpItsClientOnly() async throws {
    try await withSocketGateway { gateway in
      let raw = try await gateway.open(.deaf)
      let sent = Flag()
      let piece = [UInt8](repeating: 0x61, count: 64 * 1024)
      let count = 512
      let sending = Task {
        for _ in 0..<count { try await raw.send(piece) }
        sent.raise()
      }
      try await Task.sleep(for: .seconds(1))
      #expect(await gateway.bufferedBytes < Self.bufferedBytesMax)
      #expect(!sent.isRaised, "the premise: it is more than the kernel holds")
      gateway.service.resume()
      try await eventually("all of it") { gateway.service.bytesReceived == count * piece.count }
      try await sending.value
      raw.close()
    }
  }
}
