import Database
import Foundation
import Support
import Testing
import Wire

@testable import EventFeed

/// Events are recorded in the transaction of their change and delivered afterwards, to a server on loopback that fails
/// in several ways.
@Suite struct EventFeedTests {
  struct Refused: Error {}

  @Test(arguments: engines) func anEventIsDeliveredWithItsChangeOrNotAtAll(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica()
      let now = fixture.clock.now
      await #expect(throws: Refused.self) {
        try await feed.database.write { db in
          _ = try EventFeedFixture.increment("a", at: now, on: db)
          throw Refused()
        }
      }
      #expect(try await fixture.waiting() == 0)
      try await running(feed.background) {
        try await fixture.increment("a", in: feed)
        try await eventually { fixture.values("a") == [1] }
        try await eventually { try await fixture.waiting() == 0 }
      }
      let event = try #require(fixture.receiver.events.first)
      #expect(event.name == "counted" && event.topics == ["a"])
      #expect(abs(event.at.timeIntervalSince(now)) < 60)
      #expect(fixture.receiver.serviceKeys == ["a key of the feed"])
    }
  }

  @Test(arguments: engines) func withoutAnAddressNothingIsRecorded(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica(eventsURL: "")
      #expect(feed.background.isEmpty)
      #expect(try await fixture.increment("a", in: feed) == 1)
      #expect(try await fixture.waiting() == 0)
    }
  }

  @Test(arguments: engines) func aTransactionThatIsRepeatedRecordsItsEventsOnce(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica()
      // On PostgreSQL some of these are repeated, after a serialization failure.
      _ = try await atOnce(20) { _ in
        let now = fixture.clock.now
        try await feed.database.write(.serializable) { db in
          _ = try EventFeedFixture.increment("a", at: now, on: db)
        }
      }
      #expect(try await fixture.waiting() == 20)
      try await running(feed.background) { try await eventually { fixture.values("a") == Array(1...20) } }
    }
  }

  @Test(arguments: engines) func whatIsRecordedDuringAnOutageArrivesAfterIt(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica()
      fixture.receiver.behavior = .unavailable
      try await running(feed.background) {
        for _ in 1...5 { try await fixture.increment("a", in: feed) }
        try await eventually { fixture.receiver.requestCount > 3 }
        #expect(try await fixture.waiting() == 5)
        #expect(fixture.receiver.events.isEmpty)
        fixture.receiver.behavior = .normal
        try await eventually { fixture.values("a") == [1, 2, 3, 4, 5] }
      }
      #expect(fixture.registry.text().contains("kith_event_feed_delivered_total 5"))
    }
  }

  @Test(arguments: engines) func aSlowEventsServiceDoesNotHoldUpWrites(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica()
      fixture.receiver.behavior = .hanging
      try await running(feed.background) {
        try await fixture.increment("a", in: feed)
        try await eventually { fixture.receiver.requestCount > 0 }
        for _ in 2...50 { try await fixture.increment("a", in: feed) }
        #expect(fixture.receiver.events.isEmpty)
        fixture.receiver.behavior = .normal
        try await eventually { fixture.values("a") == Array(1...50) }
      }
    }
  }

  @Test(arguments: engines) func whatIsRecordedInQuickSuccessionIsDeliveredTogether(engine: Engine) async throws {
    try await withEventFeed(engine, { $0.limits.pause = .seconds(3) }) { fixture in
      let feed = try await fixture.replica()
      try await running(feed.background) {
        // The first one does not wait for others.
        let start = ContinuousClock.now
        try await fixture.increment("a", in: feed)
        try await eventually { fixture.values("a") == [1] }
        #expect(ContinuousClock.now - start < .seconds(2))
        for _ in 2...12 { try await fixture.increment("a", in: feed) }
        try await eventually { fixture.values("a") == Array(1...12) }
        #expect(fixture.receiver.requestCount < 6)
      }
    }
  }

  @Test(arguments: engines) func aStoppingReplicaDeliversWhatItsLastRequestsHaveRecorded(engine: Engine) async throws {
    try await withEventFeed(engine, { $0.pollInterval = .seconds(600) }) { fixture in
      let (feed, other) = (try await fixture.replica(), try await fixture.replica())
      try await running(feed.background) {
        try await fixture.increment("a", in: feed)
        try await eventually { fixture.values("a") == [1] }
        // Of this one it is not told.
        try await fixture.increment("a", in: other)
      }
      #expect(fixture.values("a") == [1, 2])
      #expect(try await fixture.testDatabase.count("event_sender where lease is not null", in: "feed") == 0)
    }
  }

  @Test(arguments: engines) func anEventThatIsRefusedHoldsUpNoOthers(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica()
      let now = fixture.clock.now
      for _ in 1...3 { try await fixture.increment("a", in: feed) }
      try await feed.database.write { db in
        EventFeed.record("wrong", to: ["a"], [:], of: nil, at: now, on: db)
      }
      for _ in 4...7 { try await fixture.increment("a", in: feed) }
      fixture.receiver.behavior = .refusing("wrong")
      try await running(feed.background) { try await eventually { fixture.values("a") == Array(1...7) } }
      #expect(
        fixture.receiver.events(on: "a").map(\.name) == Array(repeating: "counted", count: 3) + ["reset"]
          + Array(repeating: "counted", count: 4))
    }
  }

  @Test(arguments: engines) func whatWaitsForTooLongIsReplacedByAReset(engine: Engine) async throws {
    try await withEventFeed(engine, { $0.limits.batchMax = 10 }) { fixture in
      let feed = try await fixture.replica()
      fixture.receiver.behavior = .unavailable
      for _ in 1...15 {
        try await fixture.increment("a", in: feed)
        try await fixture.increment("b", in: feed)
      }
      fixture.clock.advance(by: .seconds(90_000))
      try await fixture.increment("a", in: feed)
      try await running(feed.background) {
        try await eventually {
          try await fixture.testDatabase.count("event_outbox where not is_reset", in: "feed") == 1
        }
        fixture.receiver.behavior = .normal
        try await eventually { fixture.values("a") == [16] }
      }
      // Resets come before what has happened later.
      #expect(fixture.receiver.events(on: "a").first?.name == "reset")
      #expect(fixture.receiver.events(on: "a").last?.name == "counted")
      #expect(fixture.receiver.events(on: "b").map(\.name).allSatisfy { $0 == "reset" })
      #expect(!fixture.receiver.events(on: "b").isEmpty)
      #expect(fixture.registry.text().contains(#"kith_event_feed_withdrawn_total{reason="too_old"} 30"#))
    }
  }

  @Test(arguments: engines) func noMoreEventsAreKeptThanAllowed(engine: Engine) async throws {
    try await withEventFeed(engine, { $0.limits.keptMax = 20 }) { fixture in
      let feed = try await fixture.replica()
      fixture.receiver.behavior = .unavailable
      // More topics than one event may have.
      for number in 1...40 { try await fixture.increment("topic \(number)", in: feed) }
      for _ in 1...20 { try await fixture.increment("a", in: feed) }
      try await running(feed.background) {
        try await eventually { try await fixture.testDatabase.count("event_outbox where is_reset", in: "feed") > 0 }
        fixture.receiver.behavior = .normal
        try await eventually { fixture.values("a") == Array(1...20) }
      }
      let resets = fixture.receiver.events.filter { $0.name == "reset" }
      #expect(Set(resets.flatMap(\.topics)) == Set((1...40).map { "topic \($0)" }))
      #expect(resets.allSatisfy { $0.topics.count <= FeedEvent.topicsMax })
    }
  }

  @Test(arguments: engines) func anErasedUserLeavesOnlyResets(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica()
      let (bob, now) = (UserID.new(at: fixture.clock.now), fixture.clock.now)
      try await fixture.increment("a", of: bob, in: feed)
      try await fixture.increment("a", of: bob, in: feed)
      try await fixture.increment("a", of: .new(at: now), in: feed)
      try await feed.database.write { db in try EventFeed.erase(bob, at: now, on: db) }
      #expect(try await fixture.testDatabase.count("event_outbox where user_id is not null", in: "feed") == 1)
      try await running(feed.background) { try await eventually { fixture.values("a") == [3] } }
      #expect(fixture.receiver.events.map(\.name) == ["reset", "counted"])
    }
  }

  /// Whoever was removed meanwhile must not read on.
  @Test(arguments: engines) func aResetChangesTheRightsThatItsEventsWouldHaveChanged(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica()
      let now = fixture.clock.now
      let (alice, bob, carol) = (UserID.new(at: now), UserID.new(at: now), UserID.new(at: now))
      func change(_ topic: String, _ user: UserID, _ mayRead: Bool) -> AccessChange {
        AccessChange(topic: topic, user: user, mayRead: mayRead)
      }
      let changes = [
        change("a", bob, true), change("a", bob, false), change("b", carol, false), change("a", alice, false),
        change("a", alice, true), change("other", carol, false),
      ]
      for access in changes {
        try await feed.database.write { db in
          EventFeed.record("changed", to: ["a", "b"], [:], access: [access], of: nil, at: now, on: db)
        }
      }
      fixture.receiver.behavior = .unavailable
      fixture.clock.advance(by: .seconds(90_000))
      try await running(feed.background) {
        try await eventually { try await fixture.testDatabase.count("event_outbox where is_reset", in: "feed") == 1 }
        fixture.receiver.behavior = .normal
        try await eventually { !fixture.receiver.events.isEmpty }
      }
      let reset = try #require(fixture.receiver.events.first)
      #expect(reset.name == "reset" && reset.topics == ["a", "b"])
      #expect(
        reset.access == [
          change("a", bob, false), change("b", carol, false), change("a", alice, false), change("a", alice, true),
          change("other", carol, false),
        ])
    }
  }

  @Test(arguments: engines) func anErasureEndsTheRightsOfOthersAndNamesNobodyErased(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica()
      let (bob, carol, now) = (UserID.new(at: fixture.clock.now), UserID.new(at: fixture.clock.now), fixture.clock.now)
      try await feed.database.write { db in
        let access = [bob, carol].map { AccessChange(topic: "a", user: $0, mayRead: false) }
        EventFeed.record("list_deleted", to: ["a"], [:], access: access, of: bob, at: now, on: db)
      }
      try await feed.database.write { db in try EventFeed.erase(bob, at: now, on: db) }
      try await running(feed.background) { try await eventually { !fixture.receiver.events.isEmpty } }
      let reset = try #require(fixture.receiver.events.first)
      #expect(reset.name == "reset")
      #expect(reset.access == [AccessChange(topic: "a", user: carol, mayRead: false)])
    }
  }

  @Test(arguments: engines) func manyRowsComeWithFurtherEvents(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let feed = try await fixture.replica()
      let now = fixture.clock.now
      let bob = UserID.new(at: now)
      try await feed.database.write { db in
        let changes = (1...41).map { EventChange.of("tasks", .delete, key: ["id": $0]) }
        EventFeed.record(
          "list_emptied", to: ["a"], ["list_id": 1], change: .of("lists", .update, key: ["id": 1]), changes: changes,
          hiddenFrom: [bob], of: nil, at: now, on: db)
      }
      try await running(feed.background) { try await eventually { fixture.receiver.events.count == 3 } }
      let events = fixture.receiver.events
      #expect(events.map(\.name) == ["list_emptied", "rows_changed", "rows_changed"])
      #expect(events.map { $0.changes?.count } == [20, 20, 1])
      #expect(events.map { $0.change?.table } == ["lists", nil, nil])
      #expect(events[2].changes?.first?.oldRecord == .object(["id": .integer(41)]))
      #expect(events.allSatisfy { $0.hiddenFrom == [bob] })
      #expect(events.map(\.payload) == [.object(["list_id": .integer(1)]), .object([:]), .object([:])])
    }
  }
}
