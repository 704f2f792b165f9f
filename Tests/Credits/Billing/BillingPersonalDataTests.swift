import Database
import Foundation
import Support
import Testing
import Wire

/// The export and the erasure of what billing keeps about a user.
@Suite struct BillingPersonalDataTests {
  private func sendPurchases(_ stack: TestStack, _ stripe: StripeServer, of user: SignedInUser, _ suffix: String)
    async throws
  {
    let objects = StripeObjects(layout: .since2025, user: user.id, customer: "cus_\(suffix)")
    let session = objects.session("cs_\(suffix)", product: BillingProducts.pack, intent: "pi_\(suffix)")
    let subscription = objects.subscription(
      "sub_\(suffix)", price: BillingProducts.creatorPrice, status: "active", periodEnd: 2_000_000_000)
    stripe.keep(subscription)
    _ = try await StripeEvent("checkout.session.completed", session, at: 1_800_000_000).send(stack)
    _ = try await StripeEvent("customer.subscription.created", subscription, at: 1_800_000_000).send(stack)
    try await stack.billingInboxSettled()
  }

  @Test(arguments: engines) func aUserIsExportedAndErasedAlsoAtStripe(engine: Engine) async throws {
    try await withStripe { stripe in
      try await withStack(engine, stripe.settings.merging(BillingProducts.settings) { $1 }) { stack in
        let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
        for user in [alice, bob] {
          let reply = try await user.browser.post(
            "/api/v1/billing/stripe/checkout",
            ["product_id": BillingProducts.pack, "success_url": "https://example.com"])
          #expect(reply.status == 200)
        }
        try await sendPurchases(stack, stripe, of: alice, "a")
        try await sendPurchases(stack, stripe, of: bob, "b")
        let auth = stack.credits.with(stack.with(key: "auth"))
        let path = "/internal/users/\(alice.id)/data"
        let exported = try await auth.get(path)["billing"] as? [String: Any] ?? [:]
        #expect((exported["purchases"] as? [[String: Any]])?.map { $0["transaction_id"] as? String } == ["pi_a"])
        #expect(
          (exported["subscriptions"] as? [[String: Any]])?.map { $0["subscription_id"] as? String } == ["sub_a"])
        let customer = try #require(exported["stripe_customer"] as? String)
        #expect(stripe.object(customer) != nil)
        let events = exported["events"] as? [[String: Any]] ?? []
        #expect(events.count == 2)
        #expect(events.contains { String(describing: $0["body"]).contains("alice@example.com") })

        #expect(try await auth.delete(path).status == 204)
        #expect(try await auth.delete(path).status == 204)
        let left = try await auth.get(path)["billing"] as? [String: Any] ?? [:]
        #expect((left["purchases"] as? [Any])?.isEmpty == true && (left["events"] as? [Any])?.isEmpty == true)
        #expect((left["subscriptions"] as? [Any])?.isEmpty == true && left["stripe_customer"] == nil)
        try await eventually("the deletion at Stripe") { stripe.object(customer) == nil }
        for table in ["billing_purchase", "billing_subscription", "billing_customer", "billing_event"] {
          func rows(of user: UserID) -> SQL { SQL(stringLiteral: "\(table) where user_id = '\(user)'") }
          #expect(try await stack.count(rows(of: alice.id), in: "credits") == 0, "\(table)")
          #expect(try await stack.count(rows(of: bob.id), in: "credits") > 0, "\(table)")
        }
        // Stripe sends the same payment and later events: nothing is granted or assigned again.
        try await sendPurchases(stack, stripe, of: alice, "a")
        #expect(try await stack.count("billing_subscription where user_id is not null", in: "credits") == 1)
        #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 100)
        #expect(try await bob.browser.get("/api/v1/billing/purchases").list.count == 1)
      }
    }
  }

  @Test(arguments: engines) func rawEventsAreEncryptedAndDeletedAfterThirtyDays(engine: Engine) async throws {
    try await withStripe { stripe in
      try await withStack(engine, stripe.settings.merging(BillingProducts.settings) { $1 }) { stack in
        let alice = try await stack.signIn("alice")
        try await sendPurchases(stack, stripe, of: alice, "a")
        #expect(try await stack.count("billing_event", in: "credits") == 2)
        let database = try await stack.testDatabase.open("credits", [])
        let bodies = try await database.read { db in
          try db.rows("select sealed from billing_event").map { try $0.get("sealed", as: [UInt8].self) }
        }
        #expect(bodies.allSatisfy { Data($0).range(of: Data("example.com".utf8)) == nil })
        let store = BillingSweepProbe(database: database)
        #expect(try await store.sweep(at: stack.clock.now + 29 * 86_400) == 0)
        #expect(try await store.sweep(at: stack.clock.now + 30 * 86_400 + 60) == 2)
        await database.close()
        #expect(try await stack.count("billing_event", in: "credits") == 0)
        #expect(try await alice.browser.get("/api/v1/billing/purchases").list.count == 1)
      }
    }
  }
}
