import Database
import Events
import Foundation
import Support
import Tokens
import Web
import Wire

/// The events service alone, with a service that owns topics, and users whose tokens are signed here.
struct EventsFixture: Sendable {
  let testDatabase: TestDatabase
  let clock: TestClock
  let owner: TopicOwner
  let ended: EndedSessionList
  let dependencies: Dependencies
  let server: Server
  let events: Browser
  let port: Int

  /// A user, with the token of one session.
  struct Person: Sendable {
    let id: UserID
    let session: SessionID
    let token: String
  }

  func person(_ id: UserID? = nil, lifetime: Duration = .seconds(3600)) throws -> Person {
    let (id, session) = (id ?? .new(at: clock.now), SessionID.new(at: clock.now))
    return Person(id: id, session: session, token: try token(of: id, session, lifetime: lifetime))
  }

  func token(of user: UserID, _ session: SessionID, lifetime: Duration = .seconds(3600)) throws -> String {
    let keys = try TokenKeys(dependencies.settings, logger: quiet)
    return try keys.signer().sign(
      AccessToken(user: user, session: session, issuedAt: clock.now, lifetime: lifetime))
  }

  /// Someone who may read the topics.
  func reader(of topics: String...) throws -> Person {
    let person = try person()
    for topic in topics { owner.allow(person.id, topic) }
    return person
  }

  /// What the metric has of what was refused for a reason.
  func refusals(_ reason: String) async throws -> Int {
    let metrics = try await events.with(["X-Service-Key": TestStack.keys["lists"] ?? ""]).get("/metrics").text
    let name = "kith_events_refusals_total{reason=\"\(reason)\"} "
    let line = metrics.split(separator: "\n").first { $0.hasPrefix(name) }
    return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
  }

  func end(_ session: SessionID) { ended.add(session, until: clock.now + 3600) }

  /// Delivers events as a producer does, and returns how many were new.
  @discardableResult
  func deliver(_ events: [FeedEvent], to browser: Browser? = nil) async throws -> Int {
    let body = try JSON.encodeExact(FeedBatch(events: events))
    let reply = try await (browser ?? self.events).with(["X-Service-Key": TestStack.keys["lists"] ?? ""])
      .send(.POST, "/internal/events", body: body)
    guard reply.status == 200, let accepted = reply.int("accepted") else { throw Unexpected(reply: reply.text) }
    return accepted
  }

  /// Delivers events with their number, and as many bytes beside it, as payload, twenty at a time.
  func deliverLargeEvents(_ count: Int, to topic: String, bytes: Int) async throws {
    let filler = JSONValue.string(String(repeating: "x", count: bytes))
    for start in stride(from: 1, through: count, by: 20) {
      try await deliver(
        (start...min(start + 19, count)).map { number in
          FeedEvent(
            id: .new(at: clock.now), topics: [topic], name: "task_changed",
            payload: .object(["number": .integer(number), "filler": filler]), at: clock.now)
        })
    }
  }

  /// An event with its number as payload.
  func event(
    _ number: Int, _ topics: String..., name: String = "task_changed", change: RowChange? = nil,
    access: [AccessChange]? = nil
  ) -> FeedEvent {
    FeedEvent(
      id: .new(at: clock.now), topics: topics, name: name, payload: .object(["number": .integer(number)]),
      at: clock.now, change: change, access: access)
  }
}

func withEvents(
  _ engine: Engine, _ overrides: [String: String] = [:], _ body: (EventsFixture) async throws -> Void
) async throws {
  try await withTestDatabase(engine) { testDatabase in
    let owner = TopicOwner()
    try await running([owner.server()]) {
      try await withEvents(on: testDatabase, owner, overrides, body)
    }
  }
}

/// One of several events services with the same database.
func withEvents(
  on testDatabase: TestDatabase, _ owner: TopicOwner, _ overrides: [String: String] = [:],
  _ body: (EventsFixture) async throws -> Void
) async throws {
  let url = try await owner.url
  let settings = TestStack.settings(testDatabase, appleKeys: "http://127.0.0.1:1").overlaid(
    [
      "LISTS_URL": url, "GROUPS_URL": url, "ADVENTURES_URL": url, "SERVICE_KEY": TestStack.keys["events"] ?? "",
      "EVENTS_CLOSE_SECONDS": "0",
    ].merging(overrides) { $1 })
  let (clock, ended) = (TestClock(), EndedSessionList())
  ended.add([], at: clock.now)
  // Tests change the database without a signal.
  let dependencies = Dependencies(
    settings, logger: quiet, endedSessions: ended, pollInterval: .seconds(1), now: { clock.now })
  let server = try await buildEvents(dependencies)
  try await running([server]) {
    let port = try await server.port.number
    let events = Browser("http://127.0.0.1:\(port)")
    try await eventually("readiness") { try await events.get("/health/ready").status == 200 }
    try await body(
      EventsFixture(
        testDatabase: testDatabase, clock: clock, owner: owner, ended: ended, dependencies: dependencies,
        server: server, events: events, port: port))
  }
}
