import Database
import Foundation
import Support
import Testing
import Wire

/// Events with the changes of several rows.
@Suite struct SeveralRowsTests {
  private static func event(
    of fixture: EventsFixture, _ types: [RowChange.Kind], _ change: RowChange? = nil
  ) -> FeedEvent {
    let changes = types.enumerated().map { index, type in
      let key = JSONValue.object(["id": .integer(index + 1)])
      return RowChange(
        table: "tasks", type: type, record: type == .delete ? nil : key, oldRecord: type == .insert ? nil : key)
    }
    return FeedEvent(
      id: .new(at: fixture.clock.now), topics: ["lists:42"], name: "tasks_reordered", payload: .object([:]),
      at: fixture.clock.now, change: change, changes: changes)
  }

  private static func binding(_ event: String) -> String {
    #""postgres_changes":[{"event":"\#(event)","schema":"public","table":"tasks"}]"#
  }

  private static func ids(_ events: [SocketClient.Message]) -> [Int?] {
    events.map { ($0.payload["data"]?["record"] ?? $0.payload["data"]?["old_record"])?["id"]?.int }
  }

  /// The number comes with the last of them, so that who has seen it has seen all.
  @Test(arguments: engines, ["1.0.0", "2.0.0"])
  func eachRowThatIsAskedForIsAMessage(_ engine: Engine, version: String) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let (all, some) = (
        try await SocketClient.connect(fixture, version: version),
        try await SocketClient.connect(fixture, version: version)
      )
      let other = try await SocketClient.connect(fixture, version: version)
      try await all.join("realtime:lists:42", alice.token, Self.binding("*"))
      try await some.join("realtime:lists:42", alice.token, Self.binding("UPDATE"))
      try await other.join("realtime:anything", alice.token, Self.binding("UPDATE"))
      // In one delivery, so that they are one run of events, and in one of its own.
      try await fixture.deliver([
        Self.event(of: fixture, [.update, .delete, .update]), Self.event(of: fixture, [.delete, .delete]),
      ])
      try await fixture.deliver([Self.event(of: fixture, [.insert, .update])])

      let rows = try await all.nextEvents(7)
      #expect(Self.ids(rows) == [1, 2, 3, 1, 2, 1, 2])
      #expect(rows.map(\.seq) == [nil, nil, 1, nil, 2, nil, 3])
      let found = try await some.nextEvents(4)
      #expect(found.map(\.event) == ["postgres_changes", "postgres_changes", "broadcast", "postgres_changes"])
      #expect(found.map(\.seq) == [nil, 1, 2, 3] && Self.ids(found) == [1, 3, nil, 2])
      let others = try await other.nextEvents(3)
      #expect(others.allSatisfy { $0.seq == nil } && Self.ids(others) == [1, 3, 2])
      for socket in [all, some, other] { #expect(try await socket.settled().isEmpty) }
    }
  }

  @Test(arguments: engines) func anEventHasABoundOfRows(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let most = FeedEvent.changesMax
      let kinds = Array(repeating: RowChange.Kind.update, count: most + 2)
      let key = JSONValue.object(["id": 0])
      let own = RowChange(table: "lists", type: .update, record: key, oldRecord: key)
      // The bound is that of the further rows; the event's own may come with them.
      let accepted = try await fixture.deliver([Self.event(of: fixture, Array(kinds.prefix(most)), own)])
      #expect(accepted == 1)
      for event in [Self.event(of: fixture, Array(kinds.prefix(most + 1)), own), Self.event(of: fixture, kinds)] {
        await #expect(throws: Unexpected.self) { try await fixture.deliver([event]) }
      }
    }
  }

  @Test(arguments: engines) func theyAreReadFromTheLog(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      try await fixture.deliver([
        Self.event(of: fixture, [.insert]), Self.event(of: fixture, [.update, .delete]),
        Self.event(of: fixture, [.update, .update]),
      ])
      let socket = try await SocketClient.connect(fixture)
      try await socket.join("realtime:lists:42", alice.token, #""since":1,\#(Self.binding("*"))"#)
      let rows = try await socket.nextEvents(4)
      #expect(Self.ids(rows) == [1, 2, 1, 2] && rows.map(\.seq) == [nil, 2, nil, 3])
    }
  }
}
