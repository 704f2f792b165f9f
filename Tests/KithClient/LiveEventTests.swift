import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// Events of a topic, over connections that are lost.
@Suite(.timeLimit(.minutes(10))) struct LiveEventTests {
  /// How events come.
  enum Way: Sendable {
    case webSocket, stream

    var live: LiveConnections { LiveConnections(sockets: self == .webSocket ? NIOWebSocketTransport() : nil) }
  }

  private static let cases: [(Engine, Way)] = engines.map { ($0, .webSocket) } + [(engines[0], .stream)]

  @Test(arguments: cases) func everyEventComesOnceAndInOrder(engine: Engine, way: Way) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await stack.signedUpClient("alice", live: way.live)
      let list = try await alice.lists.create(name: "Groceries")
      let topic = "lists:\(list.id)"
      var (names, numbers): ([String], [Int]) = ([], [])
      var position = EventPosition()
      // Each round is a subscription that goes on where the last one stopped; what happens between them is not missed.
      for round in 0..<3 {
        if round > 0 { _ = try await alice.tasks.create(TaskFields(title: "between \(round)"), in: list.id) }
        var expected = round > 0 ? 1 : 0
        for try await (update, next) in alice.events.updates(of: [topic], from: position) {
          position = next
          switch update {
          case .connected:
            _ = try await alice.tasks.create(TaskFields(title: "round \(round)"), in: list.id)
            expected += 1
          case .event(let event):
            names.append(event.name)
            numbers.append(event.number)
            #expect(event.topic == topic && event.payload["list_id"] == .int(list.id))
            expected -= 1
          default: throw Unexpected(reply: "\(update)")
          }
          if expected == 0, !numbers.isEmpty { break }
        }
      }
      #expect(names == Array(repeating: "task_created", count: 5))
      let first = try #require(numbers.first)
      #expect(numbers == Array(first..<first + 5))
    }
  }

  @Test(arguments: cases) func aLostConnectionIsMadeAgainAndNothingIsMissed(engine: Engine, way: Way) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let port = try #require(URL(string: stack.gateway.base)?.port)
      let alice = try await stack.signedUpClient("alice")
      let list = try await alice.lists.create(name: "Groceries")
      try await CuttingProxy.run(before: port, cutsInHundred: 25, seed: 7) { proxy, base in
        let phone = try stack.kithClient(at: base, attemptsMax: 100, live: way.live)
        try await eventually("a sign-in") {
          do { try await phone.auth.signIn(email: "alice@example.com", password: "correct horse") } catch KithFailure
            .unreachable
          { return false }
          return true
        }
        var (numbers, made): ([Int], Int) = ([], 0)
        for try await (update, _) in phone.events.updates(of: ["lists:\(list.id)"]) {
          if case .event(let event) = update { numbers.append(event.number) }
          if case .disconnected = update { continue }
          guard made < 40 else {
            if numbers.count >= made { break }
            continue
          }
          _ = try await alice.tasks.create(TaskFields(title: "\(made)"), in: list.id)
          made += 1
        }
        #expect(proxy.cuts > 0)
        #expect(numbers == Array((numbers.first ?? 0)..<(numbers.first ?? 0) + numbers.count))
      }
    }
  }

  @Test(arguments: cases) func aStrangerIsRefusedAndARemovedMemberIsTold(engine: Engine, way: Way) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await stack.signedUpClient("alice")
      let bob = try await stack.signedUpClient("bob", live: way.live)
      let list = try await alice.lists.create(name: "Groceries")
      let topic = "lists:\(list.id)"
      let stranger = await #expect(throws: KithFailure.self) {
        for try await _ in bob.events.updates(of: [topic]) {}
      }
      #expect(stranger?.code == .known(.forbidden))
      let link = try await alice.invites.createLink(to: list.id, role: .editor)
      _ = try await bob.invites.acceptList(code: link.code)
      let memberships = try await alice.lists.memberships(of: list.id)
      let membership = try #require(memberships.first { $0.role == "editor" })
      var last: LiveUpdate?
      for try await (update, _) in bob.events.updates(of: [topic]) {
        if last == nil { try await alice.lists.remove(membership.id, from: list.id) }
        last = update
      }
      guard case .ended = last else { throw Unexpected(reply: "\(last as Any)") }
    }
  }

  /// The position of one way is good for the other; what the log does not have is a gap, and not a part of it.
  @Test func oneWayGoesOnWhereTheOtherHasStopped() async throws {
    try await withStack(engines[0], TestStack.eventsURL) { stack in
      let alice = try await stack.signedUpClient("alice")
      let list = try await alice.lists.create(name: "Groceries")
      let phone = try stack.kithClient(live: Way.stream.live)
      try await phone.auth.signIn(email: "alice@example.com", password: "correct horse")
      let topic = "lists:\(list.id)"
      var position = EventPosition()
      var numbers: [Int] = []
      for (round, client) in [alice, phone, alice].enumerated() {
        for try await (update, next) in client.events.updates(of: [topic], from: position) {
          position = next
          if update == .connected { _ = try await alice.tasks.create(TaskFields(title: "\(round)"), in: list.id) }
          guard case .event(let event) = update else { continue }
          numbers.append(event.number)
          break
        }
      }
      let first = try #require(numbers.first)
      #expect(numbers == [first, first + 1, first + 2] && position.number(of: topic) == first + 2)

      position.marks[topic]?.epoch = "of a log that was replaced"
      for try await (update, next) in alice.events.updates(of: [topic], from: position) where update != .connected {
        #expect(update == .gap(topic: topic) && next.number(of: topic) == first + 2)
        break
      }
    }
  }

  @Test func aTokenIsRenewedWhileTheConnectionIsThere() async throws {
    try await withStack(engines[0], TestStack.eventsURL) { stack in
      // One heartbeat, when the test says so: a busy machine may answer one late.
      let (ticks, tick) = AsyncStream<Void>.makeStream()
      let live = LiveConnections(
        sockets: NIOWebSocketTransport(),
        sleep: { _ in
          for await _ in ticks { return }
          throw CancellationError()
        })
      let transport = CountingTransport()
      let alice = try await stack.clientWithShortTokens("alice", transport: transport, live: live)
      let list = try await alice.lists.create(name: "Groceries")
      var updates: [LiveUpdate] = []
      for try await (update, _) in alice.events.updates(of: ["lists:\(list.id)"]) {
        updates.append(update)
        guard update == .connected else { break }
        // The token of 15 minutes is about to end: a heartbeat renews it. Then it would have ended.
        stack.clock.advance(by: .seconds(14 * 60 + 45))
        tick.yield()
        try await eventually("a refresh") { transport.count("/api/v1/auth/refresh") == 1 }
        // The server accepts it without an answer.
        try await Task.sleep(for: .seconds(3))
        stack.clock.advance(by: .seconds(60))
        try await Task.sleep(for: .seconds(2))
        _ = try await alice.tasks.create(TaskFields(title: "Milk"), in: list.id)
      }
      guard updates.count == 2, case .event = updates.last else { throw Unexpected(reply: "\(updates)") }
    }
  }

  @Test(arguments: [Way.webSocket, .stream]) func anEndedTokenIsReplacedAndAnEndedSessionIsTheEnd(way: Way) async throws
  {
    try await withStack(engines[0], TestStack.eventsURL) { stack in
      let alice = try await stack.clientWithShortTokens("alice", live: way.live)
      let other = try await stack.signedUpClient("bob")
      let list = try await alice.lists.create(name: "Groceries")
      let link = try await alice.invites.createLink(to: list.id, role: .editor)
      _ = try await other.invites.acceptList(code: link.code)
      var (updates, connections): ([LiveUpdate], Int) = ([], 0)
      await #expect(throws: KithFailure.signedOut) {
        for try await (update, _) in alice.events.updates(of: ["lists:\(list.id)"]) {
          updates.append(update)
          switch update {
          case .connected:
            connections += 1
            if connections == 1 { stack.clock.advance(by: .seconds(20 * 60)) }
          // Nobody is there at this moment.
          case .disconnected where connections == 1:
            _ = try await other.tasks.create(TaskFields(title: "Milk"), in: list.id)
          case .event(let event) where event.isOfTask: await alice.auth.signOut()
          default: break
          }
        }
      }
      let events = updates.filter { if case .event(let event) = $0 { event.isOfTask } else { false } }
      #expect(events.count == 1)
      // More where the machine is too busy to answer a heartbeat in time.
      #expect(connections >= 2)
    }
  }

  @Test func aMessageReachesWhoHasTheTopicOpen() async throws {
    try await withStack(engines[0], TestStack.eventsURL) { stack in
      let alice = try await stack.signedUpClient("alice")
      let list = try await alice.lists.create(name: "Groceries")
      let topic = "lists:\(list.id)"
      for try await (update, position) in alice.events.updates(of: [topic]) {
        guard update != .connected else {
          try await alice.events.broadcast("typing", ["by": "alice"], on: topic)
          continue
        }
        #expect(update == .message(LiveMessage(topic: topic, name: "typing", payload: ["by": "alice"])))
        #expect(position.number(of: topic) != nil)
        break
      }
      let bob = try await stack.signedUpClient("bob")
      let refused = await #expect(throws: KithFailure.self) { try await bob.events.broadcast("typing", [:], on: topic) }
      #expect(refused?.code == .known(.forbidden))
    }
  }

  /// On Linux the system's library has no WebSockets, and a client that is not told how else to open them goes on.
  @Test func withTheSystemsLibraryEventsCome() async throws {
    try await withStack(engines[0], TestStack.eventsURL) { stack in
      let alice = try await stack.signedUpClient(
        "alice", live: LiveConnections(sockets: URLSessionWebSocketTransport()))
      let list = try await alice.lists.create(name: "Groceries")
      var updates: [LiveUpdate] = []
      for try await (update, _) in alice.events.updates(of: ["lists:\(list.id)"]) {
        updates.append(update)
        guard update == .connected else { break }
        _ = try await alice.tasks.create(TaskFields(title: "Milk"), in: list.id)
      }
      guard updates.count == 2, case .event = updates.last else { throw Unexpected(reply: "\(updates)") }
    }
  }
}

extension LiveEvent {
  /// Not that somebody has joined the list, which may come late.
  fileprivate var isOfTask: Bool { name.hasPrefix("task_") }
}
