import Database
import Foundation
import NIOCore
import Support
import Testing
import Web
import Wire

@testable import Events

/// The bounds as they are without any configuration: up to each everything succeeds, beyond it there is a reply with a
/// reason, and a count of it.
@Suite struct BoundTests {
  private static let list = "realtime:lists:1"
  private static let said = #"{"type":"broadcast","event":"said","payload":{}}"#

  @Test func theBoundsAreThoseThatAreDocumented() throws {
    let settings = try SocketSettings(Settings([:]))
    #expect(settings.channelsMax == 100)
    #expect(settings.messagesPerSecond == 10 && settings.messagesBurst == 30)
    #expect(settings.pingInterval == .seconds(25) && settings.silenceLimit < .seconds(75))
    #expect(settings.closeSeconds == 10)
    #expect(SocketSettings.frameBytesMax == 64 * 1024)
    #expect(PresenceStore.listedMax == 100)
  }

  @Test(arguments: engines) func aSocketJoinsAHundredChannels(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.person()
      for list in 1...101 { fixture.owner.allow(alice.id, "lists:\(list)") }
      let socket = try await SocketClient.connect(fixture)
      for list in 1...100 {
        #expect(try await socket.join("realtime:lists:\(list)", alice.token).status == "ok", "\(list)")
      }
      let refused = try await socket.join("realtime:lists:101", alice.token)
      #expect(refused.reason == "ChannelRateLimitReached: Too many channels")
      #expect(try await fixture.refusals("channels") == 1)
      // The others are as they were.
      try await fixture.deliver([fixture.event(1, "lists:100")])
      #expect(try await socket.nextEvent().topic == "realtime:lists:100")
    }
  }

  @Test(arguments: engines) func aUserHasTenSockets(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:1")
      var sockets: [SocketClient] = []
      for _ in 0..<11 { sockets.append(try await SocketClient.connect(fixture)) }
      for socket in sockets.prefix(10) { #expect(try await socket.join(Self.list, alice.token).status == "ok") }
      let refused = try await sockets[10].join(Self.list, alice.token)
      #expect(refused.reason == "ConnectionRateLimitReached: Too many connected users")
      #expect(try await fixture.refusals("sockets") == 1)
    }
  }

  @Test(arguments: engines) func thirtyMessagesAtOnceAreTakenAndAFloodIsNot(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:1")
      let socket = try await SocketClient.connect(fixture)
      try await socket.join(Self.list, alice.token, #""broadcast":{"ack":true}"#)
      var refs: [String] = []
      for _ in 0..<130 { refs.append(try await socket.push(Self.list, "broadcast", Self.said)) }
      try await eventually("all replies") { socket.messages.count { $0.event == "phx_reply" } == refs.count }
      let replies = socket.messages.filter { $0.event == "phx_reply" }
      #expect(replies.prefix(30).allSatisfy { $0.status == "ok" })
      let refused = replies.filter { $0.status == "error" }
      #expect(!refused.isEmpty && refused.allSatisfy { $0.reason == "Too many messages per second" })
      #expect(try await fixture.refusals("messages") == refused.count)
      // It may speak again after a moment. Whoever goes on all the same is closed.
      try await eventually("a moment") {
        try await socket.call(Self.list, "broadcast", Self.said).status == "ok"
      }
      for _ in 0..<10_000 where !socket.isClosed {
        // `try?`: it may be closed.
        _ = try? await socket.push(Self.list, "broadcast", Self.said)
      }
      try await socket.untilClosed()
      #expect(socket.closeCode == 1008)
    }
  }

  @Test(arguments: engines) func byHTTPAUserSaysNoMoreThanOnASocket(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:1"), try fixture.reader(of: "lists:1"))
      let path = "/realtime/v1/api/broadcast"
      let message: [String: any Sendable] = ["topic": "lists:1", "event": "said", "payload": ["x": 1]]
      func send(_ count: Int, by sender: Browser) async throws -> Int {
        let messages = [[String: any Sendable]](repeating: message, count: count)
        return try await sender.post(path, ["messages": messages]).status
      }
      let (hers, his) = (fixture.events.bearing(alice.token), fixture.events.bearing(bob.token))
      // In one request or in several.
      #expect(try await send(31, by: hers) == 429)
      #expect(try await send(29, by: hers) == 202)
      #expect(try await send(29, by: hers) == 429)
      #expect(try await fixture.refusals("messages") == 2)
      var statuses: [Int] = []
      for _ in 0..<60 { statuses.append(try await hers.post("\(path)/lists:1/events/said", ["x": 1]).status) }
      #expect(statuses.first == 202 && statuses.contains(429))
      // Bob is another, and a service has no such limit.
      #expect(try await send(30, by: his) == 202)
      let service = fixture.events.with(["X-Service-Key": TestStack.keys["lists"] ?? ""])
      for _ in 0..<2 { #expect(try await send(100, by: service) == 202) }
      #expect(try await send(101, by: service) == 429)
    }
  }

  @Test(arguments: engines) func aFrameHasSixtyFourKilobytes(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:1")
      let (hers, his) = (try await SocketClient.connect(fixture), try await SocketClient.connect(fixture))
      for socket in [hers, his] { try await socket.join(Self.list, alice.token) }
      let (head, tail) = (#"[null,"9","\#(Self.list)","broadcast",{"event":"said","payload":{"x":""#, #""}}]"#)
      func frame(of count: Int) -> ByteBuffer {
        ByteBuffer(string: head + String(repeating: "x", count: count - head.utf8.count - tail.utf8.count) + tail)
      }
      try await hers.send(frame: .text, frame(of: 64 * 1024))
      #expect(try await his.nextEvent().name == "said")
      #expect(try await fixture.refusals("size") == 0)
      try await hers.send(frame: .text, frame(of: 64 * 1024 + 1))
      try await hers.untilClosed()
      #expect(hers.closeCode == 1009)
      #expect(try await fixture.refusals("size") == 1)
      #expect(try await his.settled().isEmpty)
    }
  }

  @Test(arguments: engines) func everyRefusalIsCountedByItsReason(_ engine: Engine) async throws {
    try await withEvents(engine, ["EVENTS_SOCKETS_PER_ADDRESS": "2"]) { fixture in
      let (alice, mallory) = (try fixture.reader(of: "lists:1"), try fixture.person())
      try await fixture.deliver([fixture.event(1, "lists:1")])
      let (hers, theirs) = (try await SocketClient.connect(fixture), try await SocketClient.connect(fixture))
      await #expect(throws: (any Error).self) { try await SocketClient.connect(fixture) }
      #expect(try await hers.join(Self.list, alice.token, #""since":7"#).status == "ok")
      #expect(try await hers.nextEvent().name == "gap")
      for _ in 0..<2 { #expect(try await theirs.join(Self.list, mallory.token).status == "error") }
      #expect(try await theirs.join(Self.list, "nonsense").status == "error")
      #expect(try await theirs.join("realtime:", mallory.token).status == "error")
      try await theirs.send(text: "no message")
      #expect(try await hers.call(Self.list, "broadcast", #"{"event":"gap","payload":{}}"#).status == "error")
      let long = String(repeating: "x", count: 9000)
      let track = #"{"event":"track","payload":{"text":"\#(long)"}}"#
      #expect(try await hers.call(Self.list, "presence", track).reason == "Track message size exceeded")
      fixture.owner.setDown(true)
      #expect(try await hers.join("realtime:lists:2", alice.token).reason?.hasPrefix("UnableToSubscribe") == true)
      for (reason, count) in [
        "address": 1, "gap": 1, "rights": 2, "token": 1, "name": 1, "malformed": 2, "presence": 1, "unavailable": 1,
        "sockets": 0, "channels": 0, "messages": 0, "size": 0, "slow_reader": 0,
      ] {
        #expect(try await fixture.refusals(reason) == count, "\(reason)")
      }
    }
  }

  /// The gateway passes on what keeps a connection alive.
  @Test func pingsOfTheServicePassTheGateway() async throws {
    try await withStack(.sqlite, TestStack.eventsURL.merging(["EVENTS_PING_SECONDS": "1"]) { $1 }) { stack in
      let socket = try await SocketClient.connect(port: stack.gateway.port)
      // Answered by the client, or the service would close.
      try await eventually("pings for longer than a client may be silent") { socket.pings > 4 }
      #expect(!socket.isClosed)
    }
  }
}
