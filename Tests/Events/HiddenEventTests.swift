import Database
import Foundation
import Support
import Testing
import Wire

/// Events of a topic that some of its readers may not see: these learn only that there was one, by its number.
@Suite struct HiddenEventTests {
  private static let change = RowChange(
    table: "checkpoint_submissions", type: .insert, record: .object(["id": .integer(2), "secret": .string("row")]))
  private static let rows = #""postgres_changes":[{"event":"*","schema":"public"}]"#

  private func deliver(_ fixture: EventsFixture, _ topic: String, hiddenFrom user: UserID) async throws {
    let hidden = FeedEvent(
      id: .new(at: fixture.clock.now), topics: [topic], name: "secret_name",
      payload: .object(["secret": .string("payload")]), at: fixture.clock.now, change: Self.change, hiddenFrom: [user])
    try await fixture.deliver([fixture.event(1, topic), hidden, fixture.event(3, topic)])
  }

  @Test(arguments: engines) func aSocketGetsTheirNumbersOnly(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let topic = "lists:42"
      let (alice, bob) = (try fixture.reader(of: topic), try fixture.reader(of: topic))
      var sockets: [(SocketClient, isHidden: Bool)] = []
      for (person, isHidden) in [(alice, false), (bob, true)] {
        for config in ["", Self.rows] {
          let socket = try await SocketClient.connect(fixture)
          #expect(try await socket.join("realtime:\(topic)", person.token, config).status == "ok")
          sockets.append((socket, isHidden))
        }
        let any = try await SocketClient.connect(fixture)
        #expect(try await any.join("realtime:anything", person.token, Self.rows).status == "ok")
        sockets.append((any, isHidden))
      }
      try await deliver(fixture, topic, hiddenFrom: bob.id)
      for person in [alice, bob] {
        // Read from the log.
        let socket = try await SocketClient.connect(fixture)
        try await socket.join("realtime:\(topic)", person.token, #""since":0"#)
        sockets.append((socket, person.id == bob.id))
      }
      for (index, (socket, isHidden)) in sockets.enumerated() {
        if index % 3 == 2, index < 6 {
          // A channel of all rows that its user may read has no numbers, and no place for what is hidden.
          let events = try await socket.settled().filter { $0.event == "postgres_changes" }
          #expect(events.count == (isHidden ? 0 : 1))
          continue
        }
        let events = try await socket.nextEvents(3)
        #expect(events.map(\.seq) == [1, 2, 3])
        let text = "\(events[1].payload)"
        #expect(text.contains("secret") != isHidden, "\(text)")
        if isHidden {
          #expect(events[1].event == "broadcast" && events[1].name == "hidden")
          #expect(events[1].payload["payload"] == .object([:]))
        }
      }
    }
  }

  @Test(arguments: engines) func aStreamGetsTheirNumbersOnly(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let topic = "lists:42"
      let (alice, bob) = (try fixture.reader(of: topic), try fixture.reader(of: topic))
      var open = try await EventStreamClient(fixture.events, "topic=\(topic)", token: bob.token)
      #expect(try await open.nextBlock()?.seq == 0)
      try await deliver(fixture, topic, hiddenFrom: bob.id)
      var late = try await EventStreamClient(fixture.events, "topic=\(topic)", token: bob.token, lastEventID: "0")
      for events in [try await open.next(3), try await late.next(3)] {
        #expect(events.map(\.seq) == [1, 2, 3])
        #expect(events.map(\.name) == ["task_changed", "hidden", "task_changed"])
        #expect(!"\(events)".contains("secret"))
      }
      var seeing = try await EventStreamClient(fixture.events, "topic=\(topic)", token: alice.token, lastEventID: "0")
      #expect(try await seeing.next(3).map(\.name) == ["task_changed", "secret_name", "task_changed"])
    }
  }
}
