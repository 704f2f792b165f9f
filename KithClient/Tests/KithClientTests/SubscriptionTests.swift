import Foundation
import Testing

@testable import KithClient

/// Subscriptions over connections that are refused, lost and made again.
@Suite(.timeLimit(.minutes(2))) struct SubscriptionTests {
  private static let refreshed = HTTPResponse.json(
    #"{"access_token":"new","refresh_token":"r2","token_type":"bearer","expires_in":3600}"#)

  private func client(
    _ sockets: MemorySockets, waits: Waits = Waits(), heartbeat: Duration = .seconds(3600),
    probe: Duration = .seconds(3600), ticks: AsyncStream<Void>? = nil,
    sleep: (@Sendable (Duration) async throws -> Void)? = nil,
    answer: @escaping ScriptedTransport.Answer = { _, _ in refreshed }
  ) async throws -> (KithClient, ScriptedTransport) {
    let transport = ScriptedTransport(answer)
    var retries = RetryPolicy()
    retries.jitter = { 1 }
    retries.sleep = sleep ?? { waits.add($0) }
    retries.now = { Date(timeIntervalSince1970: 1_800_000_000) }
    var live = LiveConnections(sockets: sockets, heartbeat: heartbeat, probe: probe)
    if let ticks {
      live.sleep = { _ in
        for await _ in ticks { return }
        throw CancellationError()
      }
    }
    let client = KithClient(
      baseURL: .server, tokens: MemoryTokenStore(), retries: retries, transport: transport, live: live)
    try await client.auth.sessions.start(TokenPair(accessToken: "old", refreshToken: "r", expiresIn: 3600))
    return (client, transport)
  }

  /// The updates until there are so many.
  private func updates(
    _ count: Int, of client: KithClient, wakingOn wakeups: LiveWakeups = .never
  ) async throws -> [LiveUpdate] {
    var all: [LiveUpdate] = []
    for try await (update, _) in client.events.updates(of: ["lists:1"], wakingOn: wakeups) {
      all.append(update)
      if all.count == count { break }
    }
    return all
  }

  private func event(_ number: Int) -> LiveUpdate {
    .event(
      LiveEvent(
        topic: "lists:1", name: "task_changed", number: number, id: "id-\(number)", payload: ["task_id": .int(number)]))
  }

  @Test func aLostConnectionIsMadeAgainFromTheLastNumber() async throws {
    let sockets = MemorySockets { socket, count in
      #expect(socket.url.absoluteString == "wss://api.example.com/realtime/v1/websocket?vsn=2.0.0")
      let join = try await socket.next()
      #expect(join.payload["config"]?["since"] == (count == 1 ? nil : 6))
      try socket.accept(join, at: count == 1 ? 5 : 7)
      try socket.push(.event(count + 5))
      if count == 2 { try await socket.hold() }
    }
    let waits = Waits()
    let (client, _) = try await client(sockets, waits: waits)
    #expect(try await updates(5, of: client) == [.connected, event(6), .disconnected, .connected, event(7)])
    #expect(waits.seconds == [2])
  }

  @Test func aConnectionWithoutHeartbeatIsMadeAgain() async throws {
    let sockets = MemorySockets { socket, _ in
      let join = try await socket.next()
      try socket.accept(join, at: 0)
      try await socket.hold()
    }
    let (client, _) = try await client(sockets, heartbeat: .milliseconds(5))
    #expect(try await updates(3, of: client) == [.connected, .disconnected, .connected])
  }

  @Test func aTokenIsRenewedWithinTheConnection() async throws {
    let sockets = MemorySockets { socket, _ in
      let join = try await socket.next()
      #expect(join.payload["access_token"] == "old")
      try socket.accept(join, at: 0)
      while true {
        let message = try await socket.next()
        if message.event == "heartbeat" { try socket.push(.reply(to: message)) }
        if message.event == "access_token" {
          #expect(message.payload["access_token"] == "new" && message.joinRef == join.ref)
          try socket.push(.event(1))
        }
      }
    }
    let (ticks, tick) = AsyncStream<Void>.makeStream()
    let (client, transport) = try await client(sockets, ticks: ticks)
    var all: [LiveUpdate] = []
    for try await (update, _) in client.events.updates(of: ["lists:1"], wakingOn: .never) {
      all.append(update)
      guard update == .connected else { break }
      await client.auth.sessions.forgetAccess()
      tick.yield()
    }
    #expect(all == [.connected, event(1)])
    #expect(sockets.opened == 1 && transport.requests.count == 1)
  }

  @Test func aRefusedTokenIsReplacedOnce() async throws {
    let sockets = MemorySockets { socket, count in
      let join = try await socket.next()
      #expect(join.payload["access_token"] == (count == 1 ? "old" : "new"))
      guard count > 1 else {
        return try socket.push(.reply(to: join, ["reason": "InvalidJWTToken: Token has expired"], isOK: false))
      }
      try socket.accept(join, at: 0)
      try await socket.hold()
    }
    let (client, transport) = try await client(sockets)
    #expect(try await updates(2, of: client) == [.disconnected, .connected])
    #expect(transport.requests.map(\.url.path) == ["/api/v1/auth/refresh"])
  }

  @Test func anEndedSessionEndsTheSubscription() async throws {
    let sockets = MemorySockets { socket, _ in
      let join = try await socket.next()
      try socket.push(.reply(to: join, ["reason": "InvalidJWTToken: The session has ended"], isOK: false))
      try await socket.hold()
    }
    let (client, _) = try await client(sockets, answer: { _, _ in .refusal(401, "session_ended") })
    await #expect(throws: KithFailure.signedOut) { try await updates(9, of: client) }
  }

  @Test func whoMayNotReadIsTold() async throws {
    let sockets = MemorySockets { socket, count in
      let join = try await socket.next()
      try socket.push(.reply(to: join, ["reason": "Unauthorized: No."], isOK: false))
      try await socket.hold()
    }
    let (client, _) = try await client(sockets)
    let failure = await #expect(throws: KithFailure.self) { try await updates(9, of: client) }
    #expect(failure?.code == .known(.forbidden) && sockets.opened == 1)
  }

  @Test func withoutWebSocketsTheEventsComeByAStream() async throws {
    let sockets = MemorySockets { _, _ in throw WebSocketsUnavailable() }
    let stream = "id: 4\n\nevent: x\nid: 5\n" + #"data: {"topic":"lists:1","seq":5,"id":"i","payload":{}}"# + "\n\n"
    let (client, transport) = try await client(
      sockets, answer: { _, count in count == 1 ? .json(stream) : .refusal(403, "forbidden") })
    var all: [LiveUpdate] = []
    await #expect(throws: KithFailure.self) {
      for try await (update, position) in client.events.updates(of: ["LISTS:1", "lists:1"], wakingOn: .never) {
        all.append(update)
        if all.count == 2 { #expect(position.number(of: "lists:1") == 5) }
      }
    }
    #expect(
      all == [
        .connected, .event(LiveEvent(topic: "lists:1", name: "x", number: 5, id: "i", payload: [:])), .disconnected,
      ])
    #expect(sockets.opened == 1)
    #expect(transport.requests.map { $0.headers["Last-Event-ID"] } == [nil, "5"])
    #expect(transport.requests[0].url.query == "topic=lists%3A1")
  }

  @Test func wherePacketsOfWebSocketsAreDroppedAStreamIsTried() async throws {
    let sockets = MemorySockets { _, _ in throw NoAnswer("timed out") }
    let (client, _) = try await client(sockets, answer: { _, _ in .json("id: 4\n\n") })
    #expect(try await updates(3, of: client) == [.disconnected, .disconnected, .connected])
    #expect(sockets.opened == 2)
  }

  @Test func whileNothingWakesTheAppEveryWaitIsWaited() async throws {
    let waits = Waits()
    let sockets = MemorySockets { _, _ in throw NoAnswer("offline") }
    let (client, transport) = try await client(
      sockets,
      sleep: {
        try await Task.sleep(for: .milliseconds(2))
        waits.add($0)
      }, answer: { _, _ in throw NoAnswer("offline") })
    // A stream that is still open, and says nothing.
    let (silence, continuation) = AsyncStream<Void>.makeStream()
    _ = try await updates(20, of: client, wakingOn: LiveWakeups { silence })
    continuation.finish()
    // Between two connections there was a wait that was not cut short.
    #expect(sockets.opened + transport.requests.count <= waits.seconds.count + 1)
    #expect(waits.seconds.prefix(7) == [2, 4, 8, 16, 30, 30, 30])
  }

  @Test func anAppThatWakesUpConnectsAtOnce() async throws {
    let sockets = MemorySockets { socket, count in
      guard count > 1 else { throw NoAnswer("offline") }
      let join = try await socket.next()
      try socket.accept(join, at: 0)
      try await socket.hold()
    }
    let (client, _) = try await client(sockets, sleep: { _ in try await Task.sleep(for: .seconds(3600)) })
    let (signals, wake) = AsyncStream<Void>.makeStream()
    var all: [LiveUpdate] = []
    let waking = Task {
      while !Task.isCancelled {
        wake.yield()
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    for try await (update, _) in client.events.updates(of: ["lists:1"], wakingOn: LiveWakeups { signals }) {
      all.append(update)
      if update == .connected { break }
    }
    waking.cancel()
    #expect(all == [.disconnected, .connected])
  }

  @Test func afterTheNetworkHasChangedASilentConnectionIsNotTrusted() async throws {
    let sockets = MemorySockets { socket, count in
      let join = try await socket.next()
      try socket.accept(join, at: 0)
      try await socket.hold()
    }
    let (client, _) = try await client(sockets, probe: .milliseconds(5))
    let (signals, wake) = AsyncStream<Void>.makeStream()
    var all: [LiveUpdate] = []
    for try await (update, _) in client.events.updates(of: ["lists:1"], wakingOn: LiveWakeups { signals }) {
      all.append(update)
      if all.count == 1 { wake.yield() }
      if all.count == 3 { break }
    }
    #expect(all == [.connected, .disconnected, .connected])
  }

  @Test func whoStopsReadingClosesTheConnection() async throws {
    let (closed, isClosed) = AsyncStream<Void>.makeStream()
    let sockets = MemorySockets { socket, _ in
      let join = try await socket.next()
      try socket.accept(join, at: 0)
      do { try await socket.hold() } catch { isClosed.finish() }
    }
    let (client, _) = try await client(sockets)
    #expect(try await updates(1, of: client) == [.connected])
    for await _ in closed {}
  }

  @Test func aReaderWhoIsBehindMissesNothingAndFillsNoMemory() async throws {
    let (closed, isClosed) = AsyncStream<Void>.makeStream()
    let sockets = MemorySockets { socket, count in
      let join = try await socket.next()
      let since = join.payload["config"]?["since"]?.int
      // What was told before: that the connection is there, and 999 events.
      #expect(since == (count == 1 ? nil : 999))
      try socket.accept(join, at: since ?? 0)
      for number in ((since ?? 0) + 1)...1500 { try socket.push(.event(number)) }
      do { try await socket.hold() } catch { isClosed.finish() }
    }
    let waits = Waits()
    let (client, _) = try await client(sockets, waits: waits)
    let updates = client.events.updates(of: ["lists:1"], wakingOn: .never)
    for await _ in closed {}
    #expect(sockets.opened == 1)
    var (all, position): ([LiveUpdate], EventPosition?) = ([], nil)
    for try await update in updates {
      all.append(update.update)
      position = update.position
      if update.update == event(1500) { break }
    }
    #expect(all.filter { if case .event = $0 { true } else { false } } == (1...1500).map(event))
    #expect(all.filter { $0 == .connected }.count == 2 && all.filter { $0 == .disconnected }.count == 1)
    #expect(position?.number(of: "lists:1") == 1500 && sockets.opened == 2)
  }
}
