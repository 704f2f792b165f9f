import Database
import Foundation
import NIOCore
import Support
import Testing
import Wire

/// What is too much is refused with a reason, and counted.
@Suite struct SocketLimitTests {
  @Test(arguments: engines) func aSocketHasABoundOfChannels(_ engine: Engine) async throws {
    try await withEvents(engine, ["EVENTS_CHANNELS_PER_SOCKET": "3"]) { fixture in
      let alice = try fixture.reader(of: "lists:1", "lists:2", "lists:3", "lists:4")
      let socket = try await SocketClient.connect(fixture)
      for list in 1...3 { #expect(try await socket.join("realtime:lists:\(list)", alice.token).status == "ok") }
      let refused = try await socket.join("realtime:lists:4", alice.token)
      #expect(refused.reason == "ChannelRateLimitReached: Too many channels")
      try await socket.call("realtime:lists:1", "phx_leave")
      #expect(try await socket.join("realtime:lists:4", alice.token).status == "ok")
      let metrics = try await fixture.events.with(["X-Service-Key": TestStack.keys["lists"] ?? ""]).get("/metrics").text
      #expect(metrics.contains(#"kith_events_refusals_total{reason="channels"} 1"#))
      #expect(metrics.contains(#"kith_events_open{kind="channels"} 3"#))
      #expect(metrics.contains(#"kith_events_open{kind="sockets"} 1"#))
    }
  }

  @Test(arguments: engines) func aJoinThatIsRefusedLeavesTheChannelAsItIs(_ engine: Engine) async throws {
    try await withEvents(engine, ["EVENTS_CHANNELS_PER_SOCKET": "1"]) { fixture in
      let alice = try fixture.reader(of: "lists:1")
      let socket = try await SocketClient.connect(fixture, version: "1.0.0")
      #expect(try await socket.join("realtime:lists:1", alice.token).status == "ok")
      let changes = Array(repeating: #"{"event":"*","schema":"public"}"#, count: 101).joined(separator: ",")
      let refused = try await socket.join("realtime:lists:1", alice.token, #""postgres_changes":[\#(changes)]"#)
      #expect(refused.reason == "ConfigurationError: Too many postgres_changes")
      try await fixture.deliver([fixture.event(1, "lists:1")])
      #expect(try await socket.nextEvent().number == 1)
      // One that is allowed takes its place, also when there is no room for another.
      #expect(try await socket.join("realtime:lists:1", alice.token).status == "ok")
      try await fixture.deliver([fixture.event(2, "lists:1")])
      #expect(try await socket.nextEvent().number == 2)
    }
  }

  @Test(arguments: engines) func aFloodOfJoinsEndsTheSocket(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:1")
      let socket = try await SocketClient.connect(fixture)
      for _ in 0..<100 { try await socket.push("realtime:lists:1", "phx_join") }
      #expect(try await socket.join("realtime:lists:1", alice.token).status == "ok")
      for _ in 0..<10_000 where !socket.isClosed {
        // `try?`: it may be closed.
        _ = try? await socket.push("realtime:lists:1", "phx_join")
      }
      try await socket.untilClosed()
      #expect(socket.closeCode == 1008)
      #expect(socket.messages.contains { $0.reason == "ClientJoinRateLimitReached: Too many joins per second" })
      #expect(try await fixture.refusals("messages") == 1)
    }
  }

  @Test(arguments: engines) func aUserHasABoundOfSockets(_ engine: Engine) async throws {
    try await withEvents(engine, ["EVENTS_SOCKETS_PER_USER": "2"]) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      var sockets: [SocketClient] = []
      for _ in 0..<3 { sockets.append(try await SocketClient.connect(fixture)) }
      for socket in sockets.prefix(2) {
        #expect(try await socket.join("realtime:lists:42", alice.token).status == "ok")
      }
      let refused = try await sockets[2].join("realtime:lists:42", alice.token)
      #expect(refused.reason == "ConnectionRateLimitReached: Too many connected users")
      #expect(try await fixture.refusals("sockets") == 1)
      try await sockets[0].close()
      try await eventually("room") { try await sockets[2].join("realtime:lists:42", alice.token).status == "ok" }
      // Somebody else is not concerned.
      let bob = try fixture.reader(of: "lists:42")
      let his = try await SocketClient.connect(fixture)
      #expect(try await his.join("realtime:lists:42", bob.token).status == "ok")
      // A socket is one user's.
      #expect(try await his.join("realtime:lists:42", alice.token).reason?.hasPrefix("InvalidJWTToken") == true)
    }
  }

  @Test(arguments: engines) func anAddressHasABoundOfSockets(_ engine: Engine) async throws {
    try await withEvents(engine, ["EVENTS_SOCKETS_PER_ADDRESS": "2"]) { fixture in
      let first = try await SocketClient.connect(fixture)
      _ = try await SocketClient.connect(fixture)
      await #expect(throws: (any Error).self) { try await SocketClient.connect(fixture) }
      try await first.close()
      try await eventually("room") {
        do { _ = try await SocketClient.connect(fixture) } catch { return false }
        return true
      }
    }
  }

  @Test(arguments: engines) func tooManyMessagesAreRefusedAndHeartbeatsAreNot(_ engine: Engine) async throws {
    try await withEvents(engine, ["EVENTS_MESSAGES_PER_SECOND": "1"]) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture)
      try await socket.join("realtime:lists:42", alice.token, #""broadcast":{"ack":true}"#)
      for _ in 0..<100 { try await socket.push("phoenix", "heartbeat") }
      var replies: [String?] = []
      for _ in 0..<20 {
        replies.append(
          try await socket.call("realtime:lists:42", "broadcast", #"{"event":"x","payload":{}}"#).reason)
      }
      #expect(replies.first == .some(nil))
      #expect(replies.contains("Too many messages per second"))
    }
  }

  @Test(arguments: engines) func aFrameThatIsTooLongEndsTheSocket(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      for isWhole in [true, false] {
        let socket = try await SocketClient.connect(fixture)
        try await socket.join("realtime:lists:42", alice.token)
        let bytes = ByteBuffer(repeating: UInt8(ascii: "x"), count: isWhole ? 64 * 1024 + 1 : 40_000)
        try await socket.send(frame: .text, bytes, fin: isWhole)
        // `try?`: the server may have closed already.
        if !isWhole { try? await socket.send(frame: .continuation, bytes, fin: true) }
        try await socket.untilClosed()
        #expect(socket.closeCode == 1009)
      }
      #expect(try await fixture.refusals("size") == 2)
    }
  }

  @Test(arguments: engines) func aMessageMayComeInFragments(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let socket = try await SocketClient.connect(fixture)
      try await socket.send(frame: .text, ByteBuffer(string: #"[null,"9","phoe"#), fin: false)
      try await socket.send(frame: .continuation, ByteBuffer(string: #"nix","heartbeat",{}]"#))
      #expect(try await socket.next { $0.ref == "9" }.status == "ok")
    }
  }

  @Test(arguments: engines) func aSilentClientIsPingedAndThenClosed(_ engine: Engine) async throws {
    try await withEvents(engine, ["EVENTS_PING_SECONDS": "4"]) { fixture in
      let answering = try await SocketClient.connect(fixture)
      let raw = try await RawConnection(port: fixture.port)
      try await raw.send(
        "GET /realtime/v1/websocket?apikey=a HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
          + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
      let received = try await raw.untilClosed()
      #expect(received.hasPrefix("HTTP/1.1 101"))
      #expect(answering.pings > 1)
      #expect(!answering.isClosed)
      #expect(try await fixture.refusals("silent") == 1)
    }
  }

  @Test(arguments: engines) func aReaderThatIsSlowGetsEverythingInTheEnd(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture)
      try await socket.join("realtime:lists:42", alice.token)
      try await socket.channel.setOption(.autoRead, value: false).get()
      // More than the buffers of both sides hold.
      try await fixture.deliverLargeEvents(400, to: "lists:42", bytes: 30_000)
      try await socket.channel.setOption(.autoRead, value: true).get()
      var (reader, numbers) = (socket, [Int]())
      while numbers.count < 400 {
        do {
          numbers += try await [reader.nextEvent()].compactMap(\.number)
        } catch {
          // The deliveries have taken longer than a reader may be slow.
          guard reader.isClosed else { throw error }
          reader = try await SocketClient.connect(fixture)
          try await reader.join("realtime:lists:42", alice.token, #""since":\(numbers.count)"#)
        }
      }
      #expect(numbers == Array(1...400))
    }
  }

  /// The gap is received when the client begins to read before the connection ends, a second later, so that a busy
  /// machine may take several attempts.
  @Test func aReaderThatReadsNothingIsDroppedAndMissesNothing() async throws {
    try await withEvents(.sqlite) { fixture in
      let alice = try fixture.person()
      for attempt in 1...5 {
        let topic = "lists:\(attempt)"
        fixture.owner.allow(alice.id, topic)
        let dropped = try await dropped(alice, topic, fixture)
        #expect(try await fixture.refusals("slow_reader") == attempt)
        let read = dropped.messages.filter { $0.name == "task_changed" }.compactMap(\.number)
        #expect(read == Array(1...max(1, read.count)) && read.count < 400)
        let next = try await SocketClient.connect(fixture)
        try await next.join("realtime:\(topic)", alice.token, #""since":\#(read.count)"#)
        #expect(try await next.nextEvents(400 - read.count).map(\.number) == Array(read.count + 1...400))
        try await next.close()
        guard let gap = dropped.messages.last(where: { $0.name == "gap" }) else { continue }
        #expect(gap.payload["payload"]?["seq"]?.int == read.count && dropped.closeCode == 1013)
        return
      }
      Issue.record("no gap in five attempts")
    }
  }

  /// A socket that was closed as it has read nothing, with what it has read after that.
  private func dropped(
    _ person: EventsFixture.Person, _ topic: String, _ fixture: EventsFixture
  ) async throws -> SocketClient {
    let before = try await fixture.refusals("slow_reader")
    let socket = try await SocketClient.connect(fixture, autoRead: false)
    try await socket.push(
      "realtime:\(topic)", "phx_join", #"{"config":{"since":0},"access_token":"\#(person.token)"}"#)
    let filler = JSONValue.string(String(repeating: "x", count: 30_000))
    for batch in 0..<20 {
      try await fixture.deliver(
        (1...20).map { index in
          FeedEvent(
            id: .new(at: fixture.clock.now), topics: [topic], name: "task_changed",
            payload: .object(["number": .integer(batch * 20 + index), "filler": filler]), at: fixture.clock.now)
        })
    }
    try await eventually("the end of the slow reader") { try await fixture.refusals("slow_reader") > before }
    try await socket.channel.setOption(.autoRead, value: true).get()
    try await socket.untilClosed()
    return socket
  }

  @Test(arguments: engines) func whatIsNoRequestForASocketIsAnswered(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let path = "/realtime/v1/websocket"
      func answer(_ target: String, _ headers: String = "") async throws -> String {
        let raw = try await RawConnection(port: fixture.port)
        try await raw.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n")
        return try await raw.untilClosed()
      }
      let upgrade =
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
      let plain = try await answer("\(path)?apikey=a")
      #expect(plain.hasPrefix("HTTP/1.1 426"))
      #expect(plain.hasSuffix(#"{"error":"This path is for WebSockets"}"#))
      #expect(try await answer("\(path)?vsn=3.0.0", upgrade).hasPrefix("HTTP/1.1 400"))
      #expect(try await answer("\(path)s", upgrade).hasPrefix("HTTP/1.1 404"))
      #expect(try await fixture.refusals("malformed") == 3)
      // Not the first request of its connection.
      #expect(try await fixture.events.get("/health").status == 200)
      #expect(try await fixture.events.get(path).status == 426)
      // Byte by byte: what handles a connection is decided by its first bytes.
      let raw = try await RawConnection(port: fixture.port)
      for byte in "GET /realtime/v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8 {
        try await raw.send([byte])
      }
      #expect(try await raw.untilClosed().hasPrefix("HTTP/1.1 401"))
    }
  }
}
