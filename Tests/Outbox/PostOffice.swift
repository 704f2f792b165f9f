import AsyncHTTPClient
import Clients
import Database
import Foundation
import Logging
import Measures
import Outbox
import Support
import Tokens
import Web
import Wire

struct Letter: Codable, Sendable {
  let to: String
  let text: String
}

/// A database with an outbox, and workers that post its letters to a receiver on loopback.
struct PostOffice: Sendable {
  let database: any Database
  let receiver: Receiver
  let clock = TestClock()
  let registry = Registry()
  var keys = PostOffice.dataKeys(["a key for tests 0123456789 abcdefghij"])
  var logger = quiet
  var look: Duration = .milliseconds(20)
  var timeout: Duration = .seconds(20)
  var waitWhenUnknown: Duration = .zero

  static func dataKeys(_ secrets: [String]) -> DataKeys {
    // `!`: there is one.
    DataKeys(secrets)!
  }

  /// One replica's.
  func outbox() async throws -> Outbox {
    let url = try await receiver.url
    let clock = clock
    let surroundings = Surroundings(Settings([:]), logger: logger, registry: registry, now: { clock.now })
    return Outbox(
      database: database, keys: keys, in: surroundings, backoff: Backoff(first: .seconds(2), longest: .seconds(3600)),
      pace: Pace(atOnce: 4, look: look, finish: .seconds(1)),
      deliveries: [
        Delivery("letter", timeout: timeout, waitWhenUnknown: waitWhenUnknown) { post in
          let letter = try post.decode(Letter.self)
          guard letter.to != "nowhere" else { throw Undeliverable("no such address") }
          var request = HTTPClientRequest(url: url)
          request.method = .POST
          request.body = .bytes(Array(letter.text.utf8))
          let status = try await Outbound.http.execute(request, timeout: .seconds(30)).status
          guard status == .ok else { throw Refused(status: status.code) }
        }
      ])
  }

  @discardableResult
  func add(_ text: String, to: String = "bob", once: String? = nil, user: UserID? = nil, order: String? = nil)
    async throws -> Bool
  {
    let outbox = try await outbox()
    let now = clock.now
    return try await database.write { db in
      try outbox.add("letter", Letter(to: to, text: text), once: once, user: user, order: order, at: now, on: db)
    }
  }

  /// What the table says of the only message, or of all of them.
  func count(where condition: SQL) async throws -> Int {
    try await database.read { db in
      try db.row("select count(*) as found from outbox where \(condition)")?.get("found") ?? -1
    }
  }

  func tries() async throws -> Int {
    try await database.read { db in try db.row("select coalesce(max(tries), 0) as t from outbox")?.get("t") ?? -1 }
  }

  func dueIn() async throws -> Double? {
    let now = clock.now
    return try await database.read { db in
      try db.row("select due_at from outbox")?.optional("due_at", as: Date.self)?.timeIntervalSince(now)
    }
  }
}

struct Refused: Error { let status: UInt }

func withPostOffice(
  _ engine: Engine, _ change: (inout PostOffice) -> Void = { _ in }, _ body: (PostOffice) async throws -> Void
) async throws {
  try await withPlace(engine) { place in
    let database = try await place.open("outbox", [Outbox.migration])
    let receiver = Receiver()
    try await running([receiver.server()]) {
      var office = PostOffice(database: database, receiver: receiver)
      change(&office)
      _ = try await receiver.url
      try await body(office)
    }
    await database.close()
  }
}
