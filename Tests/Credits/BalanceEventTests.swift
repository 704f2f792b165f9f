import Database
import EventFeed
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Credits

/// What is told of a balance that changes other than by a purchase, a grant or spending.
@Suite struct BalanceEventTests {
  @Test(arguments: engines) func eachChangeOfABalanceIsTold(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let settings = testDatabase.settings.merging(["EVENTS_URL": "http://127.0.0.1:1"]) { $1 }
      let database = try await testDatabase.open("credits", creditsMigrations)
      // Nothing delivers them here.
      let feed = EventFeed(database, in: Dependencies(Settings(settings), logger: quiet))
      let ledger = LedgerFixture(feed.database)
      func told() async throws -> [Change] {
        try await database.readOnce { db in
          try db.rows("select event from event_outbox order by position").compactMap { row in
            let event = try JSON.decode(FeedEvent.self, from: Data(try row.get("event", as: String.self).utf8))
            guard event.name == "balance_changed" else { return nil }
            return Change(event.payload["balance"], event.payload["amount"], event.payload["type"])
          }
        }
      }
      let alice = try await ledger.user(100)
      let captured = try await ledger.hold(30, of: alice)
      let released = try await ledger.hold(40, of: alice)
      let free = try await ledger.hold(10, of: alice)
      try await ledger.settle(free, as: .release)
      let before = try await told()
      #expect(before == [Change(100, 100, "admin_grant")], "what is held is still there")
      try await ledger.refund(100, of: alice)
      try await ledger.settle(captured, as: .capture(20))
      // What is free again pays a part of the debt.
      try await ledger.settle(released, as: .release)
      #expect(try await ledger.balance(of: alice).current == 0)
      #expect(
        Array(try await told().dropFirst()) == [
          Change(70, -100, "refund"), Change(40, -20, "generation"), Change(0, -40, "generation"),
        ])
      await database.close()
    }
  }

  /// Over HTTP, by a service whose work takes long.
  @Test(arguments: engines) func aHoldIsToldWhenItIsCapturedAndThenOnly(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)
      let credits = stack.credits.with(stack.with(key: "billing+credits"))
      func hold(_ cost: Int) async throws -> Browser.Reply {
        let body: [String: any Sendable] = [
          "user_id": alice.id.description, "cost": cost, "expires_in": 300, "idempotency_key": "a hold of \(cost)",
        ]
        return try await credits.post("/internal/credits/holds", body)
      }
      func settle(_ hold: String, _ how: String, _ body: [String: any Sendable] = [:]) async throws -> Int {
        try await credits.post("/internal/credits/holds/\(hold)/\(how)", body).status
      }
      #expect(try await hold(51).status == 402)
      let (captured, released) = (try await hold(30).string("id"), try await hold(10).string("id"))
      #expect(try await hold(5).status == 201)
      #expect(try await settle(captured, "capture", ["amount": 31]) == 422)
      for _ in 0..<2 { #expect(try await settle(captured, "capture", ["amount": 20]) == 200) }
      #expect(try await settle(captured, "release") == 409)
      #expect(try await settle(released, "release") == 200)
      // The third one is never settled.
      stack.clock.advance(by: .seconds(301))
      try await eventually("what was held") {
        try await alice.browser.get("/api/v1/credits/balance").int("held") == 0
      }
      try await expect(
        [
          ["balance": 50, "amount": 50, "type": "signup_bonus"],
          ["balance": 30, "amount": -20, "type": "generation"],
        ], toldTo: alice.id, stack, receiver)
    }
  }

  @Test(arguments: engines) func creditsThatExpireAreToldGrantByGrant(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)
      let credits = stack.credits.with(stack.with(key: "lists"))
      let start = stack.clock.now
      for (amount, seconds) in [(20, 1000.0), (30, 1100.0), (5, 80_000.0)] {
        let body: [String: any Sendable] = [
          "user_id": alice.id.description, "amount": amount, "expires_at": RFC3339.milliseconds(start + seconds),
        ]
        #expect(try await credits.post("/internal/credits/grant", body).bool("success") == true)
      }
      let body: [String: any Sendable] = [
        "user_id": alice.id.description, "cost": 8, "expires_in": 36_000, "idempotency_key": "a hold",
      ]
      let hold = try await credits.post("/internal/credits/holds", body)
      #expect(hold.status == 201)
      func changes() -> Int { receiver.events(on: "users:\(alice.id)").count { $0.name == "balance_changed" } }
      stack.clock.advance(by: .seconds(2000))
      try await eventually("the end of what is free") { changes() == 6 }
      // What was held has expired, too.
      #expect(try await credits.post("/internal/credits/holds/\(hold.string("id"))/release").status == 200)
      try await eventually("the end of the rest") { changes() == 7 }
      try await expect(
        [
          ["balance": 50, "amount": 50, "type": "signup_bonus"], ["balance": 70, "amount": 20, "type": "admin_grant"],
          ["balance": 100, "amount": 30, "type": "admin_grant"], ["balance": 105, "amount": 5, "type": "admin_grant"],
          ["balance": 93, "amount": -12, "type": "expiry"], ["balance": 63, "amount": -30, "type": "expiry"],
          ["balance": 55, "amount": -8, "type": "expiry"],
        ], toldTo: alice.id, stack, receiver)
    }
  }

  /// Expects that a user was told of these changes of their balance, in this order, and of no others.
  private func expect(
    _ changes: [JSONValue], toldTo user: UserID, _ stack: TestStack, _ receiver: EventsReceiver,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await eventually("the delivery") { try await stack.count("event_outbox", in: "credits") == 0 }
    let told = receiver.events.filter { $0.name == "balance_changed" }
    #expect(told.map(\.payload) == changes, sourceLocation: sourceLocation)
    #expect(told.allSatisfy { $0.topics == ["users:\(user)"] }, sourceLocation: sourceLocation)
  }

  private struct Change: Equatable {
    let balance: JSONValue?
    let amount: JSONValue?
    let type: JSONValue?

    init(_ balance: JSONValue?, _ amount: JSONValue?, _ type: JSONValue?) {
      (self.balance, self.amount, self.type) = (balance, amount, type)
    }
  }
}
