import AsyncHTTPClient
import Clients
import Database
import Foundation
import Logging
import Outbox
import Prometheus
import Support
import Tokens
import Web
import Wire

/// The content of the messages that these tests send.
struct TestMessage: Codable, Sendable {
  let to: String
  let text: String
}

/// A database with an outbox, and replicas that send its messages to a receiver on loopback.
struct OutboxFixture: Sendable {
  let database: any Database
  let receiver: RecordingServer
  let clock = TestClock()
  let registry = MetricsRegistry()
  var keys = OutboxFixture.dataKeys(["a key for tests 0123456789 abcdefghij"])
  var logger = quiet
  var pollInterval: Duration = .milliseconds(20)
  var timeout: Duration = .seconds(20)
  var unknownOutcomeDelay: Duration = .zero

  static func dataKeys(_ secrets: [String]) -> DataKeys {
    // `!`: nil only without secrets.
    DataKeys(secrets)!
  }

  /// The outbox of one replica.
  func outbox() async throws -> Outbox {
    let url = try await receiver.url
    let clock = clock
    let dependencies = Dependencies(
      Settings([:]), logger: logger, registry: registry, pollInterval: pollInterval, now: { clock.now })
    return Outbox(
      database: database, keys: keys, in: dependencies, backoff: Backoff(first: .seconds(2), longest: .seconds(3600)),
      configuration: WorkerConfiguration(concurrency: 4, shutdownTimeout: .seconds(1)),
      deliveries: [
        Delivery("letter", timeout: timeout, unknownOutcomeDelay: unknownOutcomeDelay) { message in
          let content = try message.decode(TestMessage.self)
          guard content.to != "nowhere" else { throw Undeliverable("no such address") }
          var request = HTTPClientRequest(url: url)
          request.method = .POST
          request.body = .bytes(Array(content.text.utf8))
          let status = try await OutboundHTTP.client.execute(request, timeout: .seconds(30)).status
          guard status == .ok else { throw ReceiverFailure(status: status.code) }
        }
      ])
  }

  @discardableResult
  func add(
    _ text: String, to: String = "bob", deduplicationKey: String? = nil, user: UserID? = nil,
    orderingKey: String? = nil
  ) async throws -> Bool {
    let outbox = try await outbox()
    let now = clock.now
    return try await database.write { db in
      try outbox.add(
        "letter", TestMessage(to: to, text: text), deduplicationKey: deduplicationKey, user: user,
        orderingKey: orderingKey, at: now, on: db)
    }
  }

  /// How many messages meet the condition.
  func count(where condition: SQL) async throws -> Int {
    try await database.read { db in
      try db.row("select count(*) as found from outbox where \(condition)")?.get("found") ?? -1
    }
  }

  /// The most tries that any message has had.
  func tries() async throws -> Int {
    try await database.read { db in try db.row("select coalesce(max(tries), 0) as t from outbox")?.get("t") ?? -1 }
  }

  /// Seconds until the only message is due.
  func dueIn() async throws -> Double? {
    let now = clock.now
    return try await database.read { db in
      try db.row("select due_at from outbox")?.optional("due_at", as: Date.self)?.timeIntervalSince(now)
    }
  }
}

/// The receiver answered with a status other than 200.
struct ReceiverFailure: Error { let status: UInt }

func withOutbox(
  _ engine: Engine, _ change: (inout OutboxFixture) -> Void = { _ in }, _ body: (OutboxFixture) async throws -> Void
) async throws {
  try await withTestDatabase(engine) { testDatabase in
    let database = try await testDatabase.open("outbox", [Outbox.migration])
    let receiver = RecordingServer()
    try await running([receiver.server()]) {
      var fixture = OutboxFixture(database: database, receiver: receiver)
      change(&fixture)
      _ = try await receiver.url
      try await body(fixture)
    }
    await database.close()
  }
}
