import Database
import Foundation
import Logging
import Prometheus
import ServiceLifecycle
import Support
import Web
import Wire

@testable import EventFeed

/// A database with counters, whose changes are events, and replicas that deliver these to a receiver on loopback.
struct EventFeedFixture: Sendable {
  let testDatabase: TestDatabase
  let receiver: EventsReceiver
  let url: String
  let clock = TestClock()
  let registry = MetricsRegistry()
  var limits = EventFeedFixture.quickLimits
  var pollInterval: Duration = .milliseconds(200)

  /// With short waits after failures.
  static let quickLimits: EventDeliveryLimits = {
    var limits = EventDeliveryLimits()
    limits.backoff = .init(first: .milliseconds(10), longest: .milliseconds(50))
    limits.leaseSeconds = 2
    return limits
  }()

  /// The database of one replica, and its delivery.
  func replica(eventsURL: String? = nil) async throws -> EventFeed {
    let database = try await testDatabase.open("feed", [EventFeed.migration, Self.counters])
    let settings = Settings(["EVENTS_URL": eventsURL ?? url, "SERVICE_KEY": "a key of the feed"])
    let dependencies = Dependencies(
      settings, logger: quiet, registry: registry, pollInterval: pollInterval, now: { [clock] in clock.now })
    return EventFeed(database, in: dependencies, limits: limits)
  }

  private static let counters = Migration(
    "counters", "create table counter (name text primary key, value bigint not null);")

  /// Increments a counter and records its new value. The update locks the counter, as the changes of a service do.
  static func increment(
    _ name: String, of user: UserID? = nil, at now: Date, on db: any Connection
  ) throws -> Int {
    let row = try db.row(
      """
      insert into counter (name, value) values (\(name), 1)
      on conflict (name) do update set value = counter.value + 1 returning value
      """)
    let value = try row?.get("value", as: Int.self) ?? 0
    EventFeed.record("counted", to: [name], ["value": value], of: user, at: now, on: db)
    return value
  }

  @discardableResult
  func increment(_ name: String, of user: UserID? = nil, in feed: EventFeed) async throws -> Int {
    let now = clock.now
    return try await feed.database.write { db in try Self.increment(name, of: user, at: now, on: db) }
  }

  /// The number of events that wait.
  func waiting() async throws -> Int { try await testDatabase.count("event_outbox", in: "feed") }

  /// The values that the receiver has of a counter, in the order of their arrival.
  func values(_ name: String) -> [Int] {
    receiver.events(on: name).compactMap { event in
      guard case .integer(let value)? = event.payload["value"] else { return nil }
      return value
    }
  }
}

func withEventFeed(
  _ engine: Engine, _ change: (inout EventFeedFixture) -> Void = { _ in },
  _ body: (EventFeedFixture) async throws -> Void
) async throws {
  try await withTestDatabase(engine) { testDatabase in
    let receiver = EventsReceiver()
    try await running([receiver.server()]) {
      var fixture = EventFeedFixture(testDatabase: testDatabase, receiver: receiver, url: try await receiver.url)
      change(&fixture)
      try await body(fixture)
      receiver.behavior = .normal
    }
  }
}
