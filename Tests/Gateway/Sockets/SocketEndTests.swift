import Foundation
import Support
import Testing
import Web

@testable import Gateway

/// How WebSockets end.
@Suite struct SocketEndTests {
  private static let hello = SocketHandshake.frame("hello")

  @Test func whenTheServiceIsGoneTheClientIsToldToReconnect() async throws {
    try await withSocketGateway { gateway in
      let between = try await gateway.open(.echo)
      let within = try await gateway.open(.half)
      try await eventually("half a frame") { try await within.receivedBytes().count > 0 && within.tunneled.count == 4 }
      gateway.service.kill()
      _ = try await between.untilClosed()
      _ = try await within.untilClosed()
      #expect(between.tunneled == SocketHandshake.restartFrame)
      // Within a frame nothing can be inserted.
      #expect(within.tunneled == [0x82, 0x04, 0x61, 0x62])
      try await eventually("the count") { gateway.counted == 0 }
      #expect(try await gateway.metrics.contains("kith_gateway_websockets_ended_total{by=\"service\"} 2\n"))
    }
  }

  @Test func afterACloseFrameOfTheServiceThereIsNoSecond() async throws {
    try await withSocketGateway { gateway in
      let raw = try await gateway.open(.bye)
      _ = try await raw.untilClosed()
      #expect(raw.tunneled == [0x88, 0x02, 0x03, 0xE8])
      try await eventually("the count") { gateway.counted == 0 }
    }
  }

  @Test func aClientThatIsSilentIsGivenUp() async throws {
    try await withSocketGateway(tunnel: TunnelTimeouts(clientSilence: .seconds(6))) { gateway in
      // The service is heard from all the time, which helps only while the client answers.
      let silent = try await gateway.open(.echo)
      let openedAt = ContinuousClock.now
      let lively = try await gateway.open(.echo)
      let chatting = Task {
        while !Task.isCancelled {
          try await lively.send(Self.hello)
          try await Task.sleep(for: .milliseconds(50))
        }
      }
      _ = try await silent.untilClosed()
      #expect(ContinuousClock.now - openedAt >= .seconds(2))
      #expect(silent.tunneled == SocketHandshake.restartFrame)
      #expect(gateway.counted == 1)
      chatting.cancel()
      _ = await chatting.result
      _ = try await lively.untilClosed()
      #expect(try await gateway.metrics.contains("kith_gateway_websockets_ended_total{by=\"client_silent\"} 2\n"))
    }
  }

  @Test func aServiceThatIsSilentIsGivenUp() async throws {
    try await withSocketGateway(tunnel: TunnelTimeouts(serviceSilence: .seconds(3))) { gateway in
      let raw = try await gateway.open(.deaf)
      try await raw.send(Self.hello)
      _ = try await raw.untilClosed()
      #expect(raw.tunneled == SocketHandshake.restartFrame)
      try await eventually("the end at the service") { gateway.service.sockets == 0 && gateway.counted == 0 }
      #expect(try await gateway.metrics.contains("kith_gateway_websockets_ended_total{by=\"service_silent\"} 1\n"))
    }
  }

  /// A stop with as many WebSockets as here, one of them within a frame.
  private static let count = 24

  @Test func aStopTellsEveryClientToReconnectOneAfterTheOther() async throws {
    let drain = TunnelTimeouts(drain: .seconds(3))
    try await withSocketGateway(["DRAIN_SECONDS": "1"], tunnel: drain) { gateway in
      let settings = gateway.stack.dependencies(of: "gateway").settings.overlaid(["DRAIN_SECONDS": "1"])
      let stopping = try buildGateway(
        Dependencies(settings, serviceAddresses: gateway.serviceAddresses, logger: quiet),
        routes: SocketGateway.routes, timeouts: Timeouts(tunnel: drain))
      let closes = try await running([stopping]) {
        let second = gateway.through(stopping, on: try await stopping.port.number)
        var sockets: [RawConnection] = []
        for _ in 1..<Self.count { sockets.append(try await second.open()) }
        let within = try await second.open(.half)
        let stoppedAt = ContinuousClock.now
        return (sockets + [within]).map { raw in
          Task {
            _ = try await raw.untilClosed()
            return (tunneled: raw.tunneled, after: ContinuousClock.now - stoppedAt)
          }
        }
      }
      var times: [Duration] = []
      for close in closes {
        let (tunneled, after) = try await close.value
        times.append(after)
        #expect(tunneled.suffix(4) == SocketHandshake.restartFrame[...] || tunneled == [0x82, 0x04, 0x61, 0x62])
      }
      // Evenly at random: the chance that all of them are in one half of the time is one in eight million.
      let (first, last) = (try #require(times.min()), try #require(times.max()))
      #expect(last - first > .milliseconds(1000))
      #expect(first >= .milliseconds(900), "only after the load balancer had its time")
    }
  }

  @Test func aFrameThatTheServiceIsSendingIsCompletedFirst() async throws {
    let drain = TunnelTimeouts(closing: .seconds(60), drain: .zero)
    try await withSocketGateway { gateway in
      let settings = gateway.stack.dependencies(of: "gateway").settings
      let stopping = try buildGateway(
        Dependencies(settings, serviceAddresses: gateway.serviceAddresses, logger: quiet),
        routes: SocketGateway.routes, timeouts: Timeouts(tunnel: drain))
      let raw = try await running([stopping]) {
        let second = gateway.through(stopping, on: try await stopping.port.number)
        let raw = try await second.open(.half)
        let idle = try await second.open(.echo)
        Task {
          // The premise: the gateway is stopping, and ends the others.
          _ = try await idle.untilClosed()
          gateway.service.resume()
        }
        return raw
      }
      _ = try await raw.untilClosed()
      #expect(raw.tunneled == [0x82, 0x04, 0x61, 0x62, 0x63, 0x64] + SocketHandshake.restartFrame)
    }
  }
}
