import Foundation
import Support
import Testing

@testable import Gateway

/// WebSockets through the gateway.
@Suite struct SocketTests {
  private static let hello = SocketHandshake.frame("hello")

  @Test func afterTheSwitchBytesGoBothWays() async throws {
    try await withSocketGateway { gateway in
      let raw = try await gateway.open()
      for line in ["upgrade: websocket", "connection: Upgrade", "Sec-WebSocket-Protocol: chat", "x-request-id: "] {
        #expect(raw.head.contains("\r\n\(line)"), "\(line)")
      }
      #expect(raw.head.contains("\r\nSec-WebSocket-Accept: \(SocketHandshake.accept)"))
      #expect(!raw.head.lowercased().contains("x-service-key") && !raw.head.lowercased().contains("x-user-id"))
      #expect(raw.tunneled.isEmpty)
      for count in 1...3 {
        try await raw.send(Self.hello)
        try await eventually("the echo") { try await raw.receivedBytes().count > 0 && raw.tunneled.count == count * 11 }
      }
      #expect(raw.tunneled == Self.hello + Self.hello + Self.hello)
      #expect(try await gateway.metrics.contains("kith_gateway_websockets 1\n"))
      // A client that has ended its side still gets what the service has to say.
      try await raw.endOutput()
      _ = try await raw.untilClosed()
      #expect(raw.tunneled == Self.hello + Self.hello + Self.hello + Array("last words".utf8))
      try await eventually("the end at the service") { gateway.service.sockets == 0 && gateway.counted == 0 }
      #expect(gateway.service.inputsClosed == 1)
      let metrics = try await gateway.metrics
      #expect(metrics.contains("kith_gateway_websockets 0\n"))
      #expect(metrics.contains("kith_gateway_websockets_ended_total{by=\"client\"} 1\n"))
      #expect(metrics.contains("kith_gateway_websocket_bytes_total{from=\"client\"} 33\n"))
      #expect(metrics.contains("kith_gateway_websocket_bytes_total{from=\"service\"} 43\n"))
      #expect(metrics.contains("kith_gateway_requests_total{route=\"/socket\",method=\"GET\",status=\"101\"} 1\n"))
    }
  }

  @Test func theServiceGetsAHeadOfTheGateway() async throws {
    try await withSocketGateway { gateway in
      let alice = try await gateway.stack.signIn("alice")
      let forged = ["X-User-ID: mallory", "X-Service-Key: k", "X-Session-ID: s", "Forwarded: for=1.2.3.4"]
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send(
        SocketHandshake.head(
          .echo, "Authorization: Bearer \(alice.access)", "Sec-WebSocket-Protocol: chat", "apikey: k",
          lines: SocketHandshake.lines + forged))
      try await eventually("the switch") { try await raw.received().contains(" 101 ") }
      let head = try #require(gateway.service.heads.first)
      let lines = head.components(separatedBy: "\r\n").filter { !$0.isEmpty }
      for line in [
        "upgrade: websocket", "connection: Upgrade", "Sec-WebSocket-Version: 13", "x-forwarded-for: 127.0.0.1",
        "Sec-WebSocket-Key: \(SocketHandshake.key)", "Sec-WebSocket-Protocol: chat", "apikey: k",
        "X-User-ID: \(alice.id)",
      ] {
        #expect(lines.count { $0.lowercased() == line.lowercased() } == 1, "\(line)")
      }
      for name in ["x-user-id", "x-service-key", "x-session-id", "connection", "upgrade", "x-request-id", "host"] {
        #expect(lines.count { $0.lowercased().hasPrefix("\(name):") } == 1, "\(name)")
      }
      for text in ["mallory", "X-Service-Key: k\r", "authorization", "forwarded: for", "Session-ID: s\r"] {
        #expect(!head.lowercased().contains(text.lowercased()), "\(text)")
      }
    }
  }

  /// Supabase's clients send their project's key where a user's token would be.
  @Test func aBearerThatIsNoTokenIsNobody() async throws {
    try await withSocketGateway { gateway in
      let raw = try await gateway.open(.echo, "Authorization: Bearer sb_publishable_key")
      let head = try #require(gateway.service.heads.first).lowercased()
      #expect(!head.contains("x-user-id") && !head.contains("sb_publishable_key"))
      raw.close()
    }
  }

  @Test func requestsBeforeTheSwitchAreServedOnTheSameConnection() async throws {
    try await withSocketGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      for count in 1...2 {
        try await raw.send("GET /echo HTTP/1.1\r\nHost: kith.test\r\n\r\n")
        try await eventually("the answer") {
          try await raw.received().components(separatedBy: "plain").count == count + 1
        }
      }
      try await raw.send(SocketHandshake.head())
      try await raw.send(Self.hello)
      try await eventually("the echo") { try await raw.receivedBytes().suffix(Self.hello.count) == Self.hello[...] }
      #expect(String(decoding: raw.bytes, as: UTF8.self).contains("HTTP/1.1 101 "))
    }
  }

  @Test func whatFollowsTheHeadAtOnceReachesTheServiceOnlyAfterItsConsent() async throws {
    try await withSocketGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send(Array(SocketHandshake.head(.late).utf8) + Self.hello)
      try await eventually("the head") { gateway.service.sockets == 1 }
      try await raw.send(Self.hello)
      // The bytes are in the gateway, or they would be counted.
      try await Task.sleep(for: .milliseconds(300))
      #expect(gateway.service.bytesReceived == 0)
      gateway.service.resume()
      try await eventually("the echo") { try await raw.receivedBytes().count > 0 && raw.tunneled.count == 22 }
      #expect(gateway.service.bytesBeforeSwitch == 0)
      #expect(raw.tunneled == Self.hello + Self.hello)
    }
  }

  @Test func aServiceThatRefusesIsForwardedAndNothingAfterItIsARequest() async throws {
    try await withSocketGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send(SocketHandshake.head(.refuse) + "GET /echo HTTP/1.1\r\nHost: kith.test\r\n\r\n")
      let text = try await raw.untilClosed()
      #expect(text.hasPrefix("HTTP/1.1 403 Forbidden\r\n") && text.hasSuffix("\r\n\r\nrefused"))
      #expect(text.contains("\r\nconnection: close\r\n"))
      #expect(gateway.service.heads.count == 1)
      #expect(gateway.counted == 0)
    }
  }

  @Test(
    arguments: [
      .wrongAccept, .noAccept, .noUpgrade, .otherProtocol, .noConnection, .length, .accepted,
    ] as [SocketService.Behavior])
  func aServiceThatSwitchesToSomethingElseIsNotForwarded(behavior: SocketService.Behavior) async throws {
    try await withSocketGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send(SocketHandshake.head(behavior))
      // A response that lasts until the connection ends is one like any other.
      if behavior == .accepted {
        try await eventually("the response") { try await raw.received().contains("\r\n\r\n") }
        #expect(raw.head.hasPrefix("HTTP/1.1 200 ") && !raw.head.lowercased().contains("upgrade"))
        return raw.close()
      }
      #expect(try await raw.untilClosed().hasPrefix("HTTP/1.1 503 "))
      #expect(gateway.counted == 0)
    }
  }
}
