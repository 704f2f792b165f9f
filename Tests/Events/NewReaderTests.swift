import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// Whoever is let into a topic is sent nothing of the time before, which the log still has.
@Suite struct NewReaderTests {
  private static let topic = "lists:42"

  /// An event with which a right begins or ends.
  private func change(
    _ number: Int, _ name: String, of user: UserID, mayRead: Bool, on topic: String = topic, _ fixture: EventsFixture
  ) -> FeedEvent {
    fixture.event(
      number, topic, name: name, access: [AccessChange(topic: Self.topic, user: user, mayRead: mayRead)])
  }

  /// What a join with `since` is sent.
  private func received(
    since: Int, by person: EventsFixture.Person, _ fixture: EventsFixture
  ) async throws -> [SocketClient.Message] {
    let socket = try await SocketClient.connect(fixture)
    let reply = try await socket.join("realtime:\(Self.topic)", person.token, #""since":\#(since)"#)
    #expect(reply.status == "ok")
    let top = try #require(reply.payload["response"]?["seq"]?.int)
    try await eventually("what is missing") {
      since == top || socket.messages.contains { $0.seq == top || $0.payload["payload"]?["seq"]?.int == top }
    }
    defer { socket.channel.close(promise: nil) }
    return try await socket.settled().filter { $0.event == "broadcast" }
  }

  private func expectGap(
    since: Int, by person: EventsFixture.Person, oldest: Int, _ fixture: EventsFixture
  ) async throws {
    let messages = try await received(since: since, by: person, fixture)
    #expect(messages.map(\.name) == ["gap"], "since \(since)")
    #expect(messages.first?.payload["payload"]?["oldest"]?.int == oldest, "since \(since)")
  }

  private func expect(
    _ numbers: [Int], since: Int, by person: EventsFixture.Person, _ fixture: EventsFixture
  ) async throws {
    #expect(try await received(since: since, by: person, fixture).map(\.number) == numbers, "since \(since)")
  }

  @Test(arguments: engines) func whatWasDeletedBeforeIsNotSent(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: Self.topic), try fixture.reader(of: Self.topic))
      try await fixture.deliver([
        fixture.event(1, Self.topic, name: "task_created"), fixture.event(2, Self.topic, name: "task_deleted"),
        change(3, "member_joined", of: bob.id, mayRead: true, fixture), fixture.event(4, Self.topic),
      ])
      try await expectGap(since: 0, by: bob, oldest: 3, fixture)
      try await expectGap(since: 1, by: bob, oldest: 3, fixture)
      // He may have joined the channel before the event that lets him in was there.
      try await expect([3, 4], since: 2, by: bob, fixture)
      try await expect([4], since: 3, by: bob, fixture)
      try await expect([1, 2, 3, 4], since: 0, by: alice, fixture)
      // What a gap is followed by is complete.
      let socket = try await SocketClient.connect(fixture)
      try await socket.join("realtime:\(Self.topic)", bob.token, #""since":0"#)
      #expect(try await socket.nextEvent().name == "gap")
      try await fixture.deliver([fixture.event(5, Self.topic)])
      #expect(try await socket.nextEvent().number == 5)
    }
  }

  @Test(arguments: engines) func whoeverIsAddedAgainMissesTheTimeBetween(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: Self.topic), try fixture.reader(of: Self.topic))
      try await fixture.deliver([
        change(1, "member_joined", of: bob.id, mayRead: true, fixture), fixture.event(2, Self.topic),
      ])
      try await expect([1, 2], since: 0, by: bob, fixture)
      try await fixture.deliver([change(3, "member_removed", of: bob.id, mayRead: false, fixture)])
      try await fixture.deliver([fixture.event(4, Self.topic)])
      try await fixture.deliver([change(5, "member_joined", of: bob.id, mayRead: true, fixture)])
      for since in 0...3 { try await expectGap(since: since, by: bob, oldest: 5, fixture) }
      try await expect([5], since: 4, by: bob, fixture)
      try await expect([1, 2, 3, 4, 5], since: 0, by: alice, fixture)
      // In one delivery.
      try await fixture.deliver([
        change(6, "member_removed", of: bob.id, mayRead: false, fixture), fixture.event(7, Self.topic),
        change(8, "member_joined", of: bob.id, mayRead: true, fixture),
      ])
      try await expectGap(since: 5, by: bob, oldest: 8, fixture)
      // A right that he has already is not a new one.
      try await fixture.deliver([
        fixture.event(9, Self.topic), change(10, "member_role_changed", of: bob.id, mayRead: true, fixture),
      ])
      try await expect([8, 9, 10], since: 7, by: bob, fixture)
    }
  }

  /// Whoever joins a hunt is let into the topic of its submissions by an event of another topic.
  @Test(arguments: engines) func anEventOfAnotherTopicLetsIn(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let bob = try fixture.reader(of: Self.topic)
      try await fixture.deliver((1...2).map { fixture.event($0, Self.topic) })
      try await fixture.deliver([
        change(0, "participant_joined", of: bob.id, mayRead: true, on: "users:\(bob.id)", fixture)
      ])
      try await fixture.deliver([fixture.event(3, Self.topic)])
      try await expectGap(since: 1, by: bob, oldest: 3, fixture)
      try await expect([3], since: 2, by: bob, fixture)
    }
  }

  @Test(arguments: engines) func aStreamIsSentNothingOfBefore(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: Self.topic), try fixture.reader(of: Self.topic))
      try await fixture.deliver([
        fixture.event(1, Self.topic), change(2, "member_joined", of: bob.id, mayRead: true, fixture),
        fixture.event(3, Self.topic),
      ])
      func stream(_ person: EventsFixture.Person, after id: String) async throws -> EventStreamClient {
        try await EventStreamClient(fixture.events, "topic=\(Self.topic)", token: person.token, lastEventID: id)
      }
      var his = try await stream(bob, after: "0")
      let gap = try #require(try await his.next())
      #expect(gap.name == "gap" && gap.json["oldest"] as? Int == 2 && gap.seq == 3)
      try await fixture.deliver([fixture.event(4, Self.topic)])
      #expect(try await his.next()?.number == 4)
      var later = try await stream(bob, after: "1")
      #expect(try await later.next(3).map(\.number) == [2, 3, 4])
      var hers = try await stream(alice, after: "0")
      #expect(try await hers.next(4).map(\.number) == [1, 2, 3, 4])
    }
  }

  /// Channels that are no topics have no numbers by which they would know what is from before.
  @Test(arguments: engines) func aReplicaThatIsBehindSendsNoRowsOfBefore(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: Self.topic), try fixture.reader(of: Self.topic))
      func row(_ number: Int) -> FeedEvent {
        let record = JSONValue.object(["number": .integer(number)])
        return fixture.event(number, Self.topic, change: RowChange(table: "tasks", type: .insert, record: record))
      }
      func listener(_ person: EventsFixture.Person) async throws -> SocketClient {
        let socket = try await SocketClient.connect(fixture)
        let rows = #""postgres_changes":[{"event":"*","schema":"*"}]"#
        #expect(try await socket.join("realtime:anything", person.token, rows).status == "ok")
        return socket
      }
      let hers = try await listener(alice)
      let database = try await fixture.testDatabase.open("events", [])
      _ = try await LogStore(database: database, replica: "another").append(
        [row(1), change(2, "member_joined", of: bob.id, mayRead: true, fixture)], at: fixture.clock.now)
      await database.close()
      let his = try await listener(bob)
      try await fixture.deliver([row(3)])
      #expect(try await his.nextEvent().number == 3)
      // The premise: the first row came too, for those who could read it.
      #expect(try await hers.nextEvents(2).map(\.number) == [1, 3])
    }
  }

  @Test(arguments: engines) func whatIsKeptOfRightsLeavesWithTheLog(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      let (log, start, bob) = (LogStore(database: database), Date(), UserID.new(at: Date()))
      let event = FeedEvent(
        id: .new(at: start), topics: [Self.topic], name: "member_joined", payload: .object([:]), at: start,
        access: [AccessChange(topic: Self.topic, user: bob, mayRead: true)])
      _ = try await log.append([event], at: start)
      for (hours, count) in [(23, 1), (25, 0)] {
        let now = start + TimeInterval(hours) * 3600
        try await LogSweep(database: database, logger: quiet, now: { now }).sweep()
        #expect(try await testDatabase.count("topic_grant", in: "events") == count)
      }
      await database.close()
    }
  }
}
