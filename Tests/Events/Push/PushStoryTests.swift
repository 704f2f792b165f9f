import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// From what somebody does to the phone of another who has closed the app: all services, real sockets.
@Suite struct PushStoryTests {
  @Test(arguments: engines) func whatOthersDoIsToldInTheLanguageOfTheAccount(_ engine: Engine) async throws {
    try await withAPNs { apns, _ in
      try await withStack(engine, TestStack.eventsURL.merging(apns.settings()) { $1 }) { stack in
        apns.clock = stack.clock
        let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
        try await bob.browser.done(.PATCH, "/api/v1/users/profile", ["locale": "de-CH"])
        let token = String(repeating: "0b", count: 32)
        try await bob.browser.done(.POST, "/api/v1/devices", ["device": ["apns_token": token]])
        func next(_ text: String) async throws {
          try await eventually("“\(text)” after \(apns.accepted.map(\.text))") {
            apns.accepted.contains { $0.token == token && $0.text == text }
          }
        }

        let list = try await alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Einkauf"]]).id(of: "list")
        let path = "/api/v1/lists/\(list)"
        try await alice.browser.done(
          .POST, "\(path)/memberships", ["membership": ["user_identifier": "bob@example.com", "role": "editor"]])
        try await next("Alice hat dich zu „Einkauf“ hinzugefügt")
        // In an hour and a half to two and a half, and not at the end of a day.
        let due = Date(
          timeIntervalSince1970: (stack.clock.now.timeIntervalSince1970 / 3600).rounded(.down) * 3600 + 9000)
        let fields: [String: any Sendable] = ["title": "Milch", "due_at": RFC3339.milliseconds(due)]
        let task = try await alice.browser.done(.POST, "\(path)/tasks", ["task": fields]).id(of: "task")
        try await alice.browser.done(.POST, "/api/v1/tasks/\(task)/assign", ["assigned_to": "bob@example.com"])
        try await next("Alice hat dir „Milch“ zugewiesen")
        try await alice.browser.done(.POST, "/api/v1/tasks/\(task)/nudge")
        try await next("Alice erinnert dich an „Milch“")
        #expect(try await alice.browser.post("/api/v1/tasks/\(task)/nudge").status == 429)

        // A hunt of a group, in which bob does not take part.
        let group = try #require(
          GroupID(try await alice.browser.done(.POST, "/api/groups", ["name": "Hütte"]).string("id")))
        _ = try await GroupsClient(in: stack.dependencies(of: "invites"))
          .add(AddToGroup(users: [bob.id], addedBy: alice.id), to: group, idempotencyKey: nil)
        try await next("Alice hat dich zu „Hütte“ hinzugefügt")
        let rest = alice.browser.with(["Prefer": "return=representation"])
        let hunt = try await rest.done(
          .POST, "/rest/v1/scavenger_hunts", ["title": "Altstadt", "group_id": group.description])
        let rows = try JSONSerialization.jsonObject(with: Data(hunt.text.utf8)) as? [[String: Any]]
        let id = try #require(rows?.first?["id"] as? String)
        try await alice.browser.done(.PATCH, "/rest/v1/scavenger_hunts?id=eq.\(id)", ["status": "active"])
        try await next("Die Schnitzeljagd „Altstadt“ hat begonnen")

        // In silence, at the end of the minute.
        stack.clock.advance(by: .seconds(61))
        try await eventually("the silent notification") {
          apns.accepted.contains { $0.token == token && $0.headers["apns-push-type"] == "background" }
        }
        // An hour before it is due.
        #expect(!apns.accepted.contains { $0.text == "„Milch“ ist bald fällig" })
        stack.clock.move(to: due - 3590)
        try await next("„Milch“ ist bald fällig")

        let again = try await stack.signIn("bob")
        let body = ["refresh_token": again.refresh]
        #expect(try await stack.gateway.post("/api/v1/auth/refresh", body).status == 200)
        #expect(try await stack.gateway.post("/api/v1/auth/refresh", body).status == 401)
        try await eventually("the warning") {
          apns.accepted.contains { $0.token == token && $0.payload["event"] == .string("token_theft_noticed") }
        }
        #expect(apns.refusals.isEmpty && apns.doubles == 0)
        // Alice, who has no device, has caused everything.
        #expect(Set(apns.accepted.map(\.token)) == [token])
      }
    }
  }

  @Test(arguments: engines) func whatAUserHasAskedForAndWhoIsOnTheWay(_ engine: Engine) async throws {
    try await withAPNs { apns, _ in
      try await withStripe { stripe in
        let billing = stripe.settings.merging(BillingProducts.settings) { $1 }
        let settings = try TestStack.eventsURL.merging(apns.settings()) { $1 }.merging(billing) { $1 }
        try await withStack(engine, settings) { stack in
          apns.clock = stack.clock
          let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
          let token = String(repeating: "0a", count: 32)
          try await alice.browser.done(.POST, "/api/v1/devices", ["device": ["apns_token": token]])
          func notification(of event: String) async throws -> APNsServer.Notification {
            func all() -> [APNsServer.Notification] {
              apns.accepted.filter { $0.token == token && $0.payload["event"] == .string(event) }
            }
            try await eventually("\(event) after \(apns.accepted.map(\.text))") { all().count == 1 }
            return try #require(all().first)
          }

          let session: JSONValue = [
            "id": "cs_1", "object": "checkout.session", "mode": "payment", "payment_status": "paid",
            "status": "complete", "client_reference_id": .string(alice.id.description), "customer": "cus_alice",
            "metadata": ["user_id": .string(alice.id.description), "product_id": .string(BillingProducts.pack)],
            "payment_intent": "pi_1", "subscription": nil, "amount_total": 799, "currency": "usd",
            "customer_details": ["email": "alice@example.com"],
          ]
          let now = Int(stack.clock.now.timeIntervalSince1970)
          #expect(try await StripeEvent("checkout.session.completed", session, at: now).send(stack).status == 200)
          #expect(try await notification(of: "balance_changed").text == "Your credits have arrived")

          try await alice.browser.done(
            .POST, "/api/v1/timepoints/generate", ["query": "The gate of Miletus in 44 BCE"])
          #expect(try await notification(of: "timepoint_ready").text?.hasPrefix("Your timepoint “") == true)

          let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
          let share: [String: any Sendable] = [
            "route_data": [String: String](), "recipients": ["\(alice.id)"], "expires_at": end,
          ]
          try await bob.browser.done(.POST, "/rest/v1/eta_shares", share)
          let shared = try await notification(of: "eta_shared")
          #expect(shared.text == "Bob is on the way and shares the time of arrival")
          // The credits that the scene has cost are nobody's news.
          #expect(apns.accepted.count == 3 && apns.refusals.isEmpty)
        }
      }
    }
  }
}
