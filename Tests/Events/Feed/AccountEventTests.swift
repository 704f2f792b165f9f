import Database
import Foundation
import Support
import Testing
import Wire

/// What auth records about accounts and sessions, and what is left of a user who is erased.
@Suite struct AccountEventTests {
  @Test(arguments: engines) func aSessionThatEndsIsToldToItsUser(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, again) = (try await stack.signIn("alice"), try await stack.signIn("alice"))
      let topic = "users:\(alice.id)"
      #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": again.refresh]).status == 200)
      let ended = try await receiver.event("session_ended", on: topic)
      #expect(ended.text("reason") == "signed_out")
      #expect(ended.topics == [topic])
      #expect(receiver.names(on: topic).filter { $0 == "session_ended" }.count == 1)
    }
  }

  @Test(arguments: engines) func eachEndOfASessionHasItsReason(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, phone) = (try await stack.signIn("alice"), try await stack.signIn("alice"))
      let topic = "users:\(alice.id)"
      func reasons(_ count: Int) async throws -> [String] {
        try await eventually("the ends") {
          receiver.names(on: topic).filter { $0 == "session_ended" }.count == count
        }
        return receiver.events(on: topic).filter { $0.name == "session_ended" }.map { $0.text("reason") ?? "" }
      }
      // From another session, one and all others.
      let listed = try await alice.browser.done(.GET, "/api/v1/auth/sessions")["sessions"] as? [[String: Any]]
      let other = try #require(listed?.first { $0["current"] as? Bool == false })
      #expect(try await alice.browser.delete("/api/v1/auth/sessions/\(other["id"] as? String ?? "")").status == 204)
      #expect(try await reasons(1) == ["ended"])
      #expect(try await phone.browser.get("/api/v1/auth/me").status == 401)
      _ = try await stack.signIn("alice")
      #expect(try await alice.browser.delete("/api/v1/auth/sessions").status == 200)
      #expect(try await reasons(2) == ["ended", "ended"])
      #expect(try await alice.browser.delete("/api/v1/auth/account").status == 200)
      #expect(try await reasons(3).last == "account_deleted")
    }
  }

  @Test(arguments: engines) func aTokenThatIsUsedTwiceIsReportedAsTheft(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let body = ["refresh_token": alice.refresh]
      #expect(try await stack.gateway.post("/api/v1/auth/refresh", body).status == 200)
      #expect(try await stack.gateway.post("/api/v1/auth/refresh", body).status == 401)
      let topic = "users:\(alice.id)"
      let ended = try await receiver.event("session_ended", on: topic)
      #expect(ended.text("reason") == "refresh_token_reused")
      #expect(receiver.names(on: topic).suffix(2) == ["token_theft_noticed", "session_ended"])
      // No event has a token.
      for event in receiver.events { #expect(try !event.shown.contains(alice.refresh)) }
    }
  }

  @Test(arguments: engines) func aBalanceThatChangesIsToldToItsOwner(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)
      let credits = stack.credits.with(stack.with(key: "lists"))
      let spend: [String: any Sendable] = ["user_id": alice.id.description, "cost": 8, "transaction_type": "chat"]
      try await credits.done(.POST, "/internal/credits/spend", spend)
      // Too little is no change.
      _ = try await credits.post("/internal/credits/spend", spend.merging(["cost": 1000]) { $1 })
      let topic = "users:\(alice.id)"
      try await eventually { receiver.events(on: topic).last?.number("balance") == 42 }
      let changes = receiver.events(on: topic).filter { $0.name == "balance_changed" }
      #expect(changes.map { $0.number("amount") } == [50, -8])
      #expect(changes.map { $0.text("type") } == ["signup_bonus", "chat"])
    }
  }

  @Test(arguments: engines) func anErasedUserIsInNoEventThatWaits(engine: Engine) async throws {
    try await withEvents(of: engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack, receiver in
      receiver.behavior = .unavailable
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      try await alice.browser.done(
        .POST, "/api/v1/lists/\(list)/memberships",
        ["membership": ["user_identifier": "bob@example.com", "role": "editor"]])
      try await bob.browser.done(.POST, "/api/v1/lists/\(list)/tasks", ["task": ["title": "Bob's medicine"]])
      #expect(try await stack.count("event_outbox where event like '%medicine%'", in: "lists") == 1)
      #expect(try await bob.browser.delete("/api/v1/auth/account").status == 200)
      // The task stays on the list of alice, without him.
      try await eventually("the erasure") {
        try await stack.count(
          "event_outbox where event like '%medicine%' and event not like '%\"tasks_changed\"%'", in: "lists") == 0
      }
      // A delivery that had begun before may have succeeded. The next one has the reset.
      try await eventually("a delivery of the reset") {
        receiver.deliveredEvents.contains { $0.name == "reset" && $0.topics.contains("lists:\(list)") }
      }
      receiver.behavior = .normal
      // Alice reads the list again, in place of what was withdrawn.
      _ = try await receiver.event("reset", on: "lists:\(list)")
      _ = try await receiver.event("account_erased", on: "users:\(bob.id)")
      let changed = try await receiver.event("tasks_changed", on: "lists:\(list)")
      #expect(try changed.shown.contains("medicine") && !changed.shown.contains(bob.id.description))
      for event in receiver.events where event.name != "tasks_changed" {
        #expect(try !event.shown.contains("medicine"))
      }
    }
  }
}
