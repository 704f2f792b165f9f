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

  private struct Change: Equatable {
    let balance: JSONValue?
    let amount: JSONValue?
    let type: JSONValue?

    init(_ balance: JSONValue?, _ amount: JSONValue?, _ type: JSONValue?) {
      (self.balance, self.amount, self.type) = (balance, amount, type)
    }
  }
}
