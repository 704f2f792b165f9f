import Database
import Foundation
import Support
import Testing
import Wire

/// `postgres_changes`: rows of topics, to those who may read them.
@Suite struct RowChangeTests {
  private static func change(
    _ type: RowChange.Kind, _ number: Int, list: Int = 42, table: String = "tasks"
  ) -> RowChange {
    let row: JSONValue = .object([
      "id": .integer(number), "number": .integer(number), "list_id": .integer(list), "title": .string("t\(number)"),
    ])
    return RowChange(
      table: table, type: type, record: type == .delete ? nil : row,
      oldRecord: type == .insert ? nil : .object(["id": .integer(number)]))
  }

  private static let inserts =
    #"{"event":"INSERT","schema":"public","table":"tasks","filter":"list_id=eq.42","extra":{"kept":true}}"#
  private static let all = #"{"event":"*","schema":"public"}"#

  @Test(arguments: engines, ["1.0.0", "2.0.0"])
  func aNamedChannelGetsTheChangesThatItAskedFor(_ engine: Engine, version: String) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture, version: version)
      let reply = try await socket.join(
        "realtime:lists:42", alice.token, #""postgres_changes":[\#(Self.inserts)]"#)
      let echoes = try #require(reply.payload["response"]?["postgres_changes"]?.array)
      var echo = try #require(echoes.first).members
      let id = try #require(echo.removeValue(forKey: "id")?.int)
      #expect(id > 0)
      #expect(JSONValue.object(echo) == (try JSON.decode(JSONValue.self, from: Data(Self.inserts.utf8))))
      let system = try await socket.next { $0.event == "system" }
      #expect(
        system.payload.members == [
          "channel": .string("lists:42"), "extension": .string("postgres_changes"),
          "message": .string("Subscribed to PostgreSQL"), "status": .string("ok"),
        ])
      try await fixture.deliver([
        fixture.event(1, "lists:42", change: Self.change(.insert, 1)),
        // Not asked for, but a number of the topic: as a broadcast.
        fixture.event(2, "lists:42", change: Self.change(.update, 2)),
        fixture.event(3, "lists:42", change: Self.change(.insert, 3)),
      ])
      let events = try await socket.nextEvents(3)
      #expect(events.map(\.event) == ["postgres_changes", "broadcast", "postgres_changes"])
      #expect(events.map(\.seq) == [1, 2, 3])
      #expect(events[0].payload["ids"] == .array([.integer(id)]))
      let data = try #require(events[0].payload["data"])
      #expect(data["schema"] == .string("public") && data["table"] == .string("tasks"))
      #expect(data["type"] == .string("INSERT") && data["errors"] == .null)
      #expect(data["commit_timestamp"]?.string?.contains("T") == true)
      #expect(data["record"]?["title"] == .string("t1"))
      #expect(data.members["old_record"] == nil)
      #expect(data["columns"]?.array?.contains(.object(["name": .string("id"), "type": .string("int8")])) == true)
    }
  }

  @Test(arguments: engines) func anyOtherChannelGetsTheRowsOfWhatItsUserMayRead(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42", "lists:43")
      let (hers, his) = (try await SocketClient.connect(fixture), try await SocketClient.connect(fixture))
      let config = #""postgres_changes":[\#(Self.all)]"#
      let reply = try await hers.join("realtime:schema-changes", alice.token, config)
      #expect(reply.status == "ok")
      #expect(reply.payload["response"]?.members["seq"] == nil)
      let bob = try fixture.reader(of: "lists:43")
      #expect(try await his.join("realtime:anything", bob.token, config).status == "ok")
      try await fixture.deliver([
        fixture.event(1, "lists:42", change: Self.change(.insert, 1)),
        // Once, although it is in two of her topics.
        fixture.event(2, "lists:42", "lists:43", change: Self.change(.update, 2)),
        fixture.event(3, "lists:44", change: Self.change(.delete, 3)),
        // Without a row there is nothing to deliver here.
        fixture.event(4, "lists:43"),
        fixture.event(5, "lists:43", change: Self.change(.delete, 5)),
      ])
      let events = try await hers.nextEvents(3)
      #expect(events.map { $0.payload["data"]?["type"]?.string } == ["INSERT", "UPDATE", "DELETE"])
      #expect(events[2].payload["data"]?["old_record"] == .object(["id": .integer(5)]))
      #expect(events[2].payload["data"]?.members["record"] == nil)
      #expect(try await his.nextEvents(2).map { $0.payload["data"]?["type"]?.string } == ["UPDATE", "DELETE"])

      // The rights change while the channels are open.
      try await fixture.deliver([
        fixture.event(
          6, "lists:44",
          access: [
            AccessChange(topic: "lists:42", user: bob.id, mayRead: true),
            AccessChange(topic: "lists:43", user: alice.id, mayRead: false),
          ]),
        fixture.event(7, "lists:42", change: Self.change(.insert, 7)),
        fixture.event(8, "lists:43", change: Self.change(.insert, 8)),
      ])
      #expect(try await his.nextEvents(2).map(\.number) == [7, 8])
      #expect(try await hers.nextEvent().number == 7)
      #expect(try await hers.settled().isEmpty)
      #expect(
        try await hers.call("realtime:schema-changes", "broadcast", #"{"event":"x","payload":{}}"#).status == "error")
    }
  }

  /// Rows without numbers that a slow reader has missed, on a channel whose events have numbers.
  @Test func whatIsMissedOnAChannelOfNumbersIsAGapWithItsNumber() async throws {
    // On a busy machine the deliveries may take longer than a reader may be slow, which ends its socket.
    var isGapNumbered = false
    for _ in 0..<5 where !isGapNumbered { isGapNumbered = try await isWhatIsMissedAGapWithItsNumber() }
    #expect(isGapNumbered, "in five attempts")
  }

  /// False when the socket was closed before everything was read.
  private func isWhatIsMissedAGapWithItsNumber() async throws -> Bool {
    let isWhole = Kept<Bool>()
    try await withEvents(.sqlite) { fixture in
      let hunt = UserID.new(at: fixture.clock.now)
      let (topic, submissions) = ("scavenger_hunts:\(hunt)", "checkpoint_submissions:\(hunt)")
      let alice = try fixture.reader(of: topic, submissions)
      let socket = try await SocketClient.connect(fixture)
      try await socket.join("realtime:\(topic)", alice.token, #""postgres_changes":[\#(Self.all)]"#)
      try await fixture.deliver([fixture.event(0, submissions, change: Self.change(.insert, 0))])
      #expect(try await socket.nextEvent().event == "postgres_changes")

      try await socket.channel.setOption(.autoRead, value: false).get()
      // More than the buffers of both sides hold.
      let filler = JSONValue.string(String(repeating: "x", count: 30_000))
      for batch in 0..<4 {
        try await fixture.deliver(
          (1...100).map { index in
            FeedEvent(
              id: .new(at: fixture.clock.now), topics: [topic], name: "hunt_changed",
              payload: .object(["number": .integer(batch * 100 + index), "filler": filler]), at: fixture.clock.now)
          })
      }
      try await fixture.deliver([fixture.event(0, submissions, change: Self.change(.insert, 0))])
      try await socket.channel.setOption(.autoRead, value: true).get()
      var (numbers, gaps) = ([Int](), [Int?]())
      while numbers.count < 400 || gaps.isEmpty {
        let event: SocketClient.Message
        do { event = try await socket.nextEvent() } catch {
          guard socket.isClosed else { throw error }
          return isWhole.set(false)
        }
        if event.name == "gap" {
          gaps.append(event.payload["payload"]?["seq"]?.int)
          #expect(gaps.last == numbers.count)
        } else {
          numbers.append(event.number ?? 0)
        }
      }
      #expect(numbers == Array(1...400) && gaps.count == 1)
      isWhole.set(true)
    }
    return isWhole.value ?? false
  }

  @Test(arguments: engines) func aWrongFilterIsToldAfterTheJoin(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture)
      let entry = #"{"event":"*","schema":"public","table":"tasks","filter":"list_id=equals.42"}"#
      let reply = try await socket.join("realtime:lists:42", alice.token, #""postgres_changes":[\#(entry)]"#)
      #expect(reply.status == "ok")
      #expect(reply.payload["response"]?["postgres_changes"]?.array?.count == 1)
      let system = try await socket.next { $0.event == "system" }
      #expect(system.payload["status"] == .string("error"))
      #expect(system.payload["message"]?.string?.hasPrefix("Error parsing `filter` params:") == true)
    }
  }

  @Test(arguments: engines) func onlySelectedColumnsAreSent(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture)
      let entry = #"{"event":"*","schema":"public","table":"tasks","select":["id","title"]}"#
      try await socket.join("realtime:lists:42", alice.token, #""postgres_changes":[\#(entry)]"#)
      try await fixture.deliver([fixture.event(1, "lists:42", change: Self.change(.update, 1))])
      let data = try #require(try await socket.nextEvent().payload["data"])
      #expect(data["record"] == .object(["id": .integer(1), "title": .string("t1")]))
      #expect(data["columns"]?.array?.count == 2)
    }
  }
}
