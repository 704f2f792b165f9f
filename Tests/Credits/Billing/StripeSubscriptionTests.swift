import Database
import Foundation
import Support
import Testing
import Wire

/// Subscriptions, as Stripe's events and answers say.
@Suite struct StripeSubscriptionTests {
  private func withBilling(
    _ engine: Engine, _ layout: StripeLayout = .since2025,
    _ body: (TestStack, StripeServer, SignedInUser, StripeObjects) async throws -> Void
  ) async throws {
    try await withStripe { stripe in
      try await withStack(engine, stripe.settings.merging(BillingProducts.settings) { $1 }) { stack in
        let alice = try await stack.signIn("alice")
        try await body(stack, stripe, alice, StripeObjects(layout: layout, user: alice.id, customer: "cus_1"))
      }
    }
  }

  private func send(_ stack: TestStack, _ type: String, _ object: JSONValue, at seconds: Int) async throws {
    #expect(try await StripeEvent(type, object, at: seconds).send(stack).status == 200)
    try await stack.billingInboxSettled()
  }

  private func balance(_ user: SignedInUser) async throws -> Int? {
    try await user.browser.get("/api/v1/credits/balance").int("balance")
  }

  private func status(_ user: SignedInUser) async throws -> [String] {
    let reply = try await user.browser.get("/api/v1/billing/status")
    return ["subscription_tier", "status"].map { reply.string($0) }
  }

  @Test(arguments: engines, StripeLayout.allCases)
  func eachPaidPeriodGrantsItsCredits(engine: Engine, layout: StripeLayout) async throws {
    try await withBilling(engine, layout) { stack, stripe, alice, objects in
      #expect(try await status(alice) == ["free", "none"])
      let (start, month) = (1_800_000_000, 2_592_000)
      for period in 0..<3 {
        let end = start + (period + 1) * month
        let subscription = objects.subscription(
          "sub_1", price: BillingProducts.creatorPrice, status: "active", periodEnd: end)
        stripe.keep(subscription)
        let invoice = objects.invoice(
          "in_\(period)", subscription: "sub_1",
          lines: [objects.line(BillingProducts.creatorPrice, amount: 1999, periodEnd: end)],
          reason: period == 0 ? "subscription_create" : "subscription_cycle", amount: 1999, paidAt: end - month)
        try await send(stack, "invoice.paid", invoice, at: end - month)
        // The same fact in another event.
        try await send(stack, "invoice.paid", invoice, at: end - month)
      }
      #expect(try await balance(alice) == 50 + 3 * 300)
      let reply = try await alice.browser.get("/api/v1/billing/status")
      #expect(reply.string("subscription_tier") == "creator")
      #expect(reply.string("source") == "stripe")
      #expect(reply.string("current_period_end") == "2027-04-15T08:00:00Z")
      #expect(reply.bool("will_renew") == true)
      let purchases = try await alice.browser.get("/api/v1/billing/purchases?limit=2")
      #expect(purchases.list.map { $0["transaction_id"] as? String } == ["in_2", "in_1"])
      let next = try #require(purchases.headers.first(name: "link")?.split(separator: ">").first?.dropFirst())
      #expect(try await alice.browser.get(String(next)).list.map { $0["transaction_id"] as? String } == ["in_0"])
      let history = try await alice.browser.get("/api/v1/credits/history").list
      #expect(history.first?["type"] as? String == "subscription_grant")
    }
  }

  /// The session does not say what the subscription's state is: that is fetched. The credits come with the invoice.
  @Test(arguments: engines) func aCompletedCheckoutBeginsItsSubscription(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe, alice, objects in
      let plan: [String: JSONValue] = ["mode": "subscription", "subscription": "sub_1", "payment_intent": nil]
      let session = objects.session("cs_1", product: "com.timepoint.flash.sub.creator", intent: "pi_1").with(plan)
      try await send(stack, "checkout.session.expired", session, at: 1_800_000_000)
      #expect(try await stack.count("billing_event where status = 'ignored'", in: "credits") == 1)
      #expect(try await status(alice) == ["free", "none"])
      stripe.keep(
        objects.subscription(
          "sub_1", price: BillingProducts.creatorPrice, status: "trialing", periodEnd: 1_900_000_000))
      try await send(stack, "checkout.session.completed", session, at: 1_800_000_001)
      #expect(try await status(alice) == ["creator", "active"])
      #expect(try await balance(alice) == 50)
      // In a setup session nothing is bought.
      try await send(stack, "checkout.session.completed", session.with(["mode": "setup"]), at: 1_800_000_002)
      #expect(try await stack.count("billing_event where status = 'ignored'", in: "credits") == 2)
      #expect(try await stack.count("billing_event where status = 'parked'", in: "credits") == 0)
    }
  }

  @Test(arguments: engines) func theNewestStateWinsAndEqualSecondsAreFetched(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe, alice, objects in
      func subscription(_ status: String, reason: String? = nil) -> JSONValue {
        objects.subscription(
          "sub_1", price: BillingProducts.studioPrice, status: status, periodEnd: 2_000_000_000, reason: reason)
      }
      try await send(stack, "customer.subscription.updated", subscription("past_due"), at: 1_800_000_100)
      #expect(try await status(alice) == ["studio", "past_due"])
      // Older: dropped, and nothing is fetched.
      try await send(stack, "customer.subscription.created", subscription("active"), at: 1_800_000_099)
      #expect(try await status(alice) == ["studio", "past_due"])
      #expect(stripe.calls.isEmpty)
      // The same second: neither event says which is newer.
      stripe.keep(subscription("active"))
      try await send(stack, "customer.subscription.updated", subscription("incomplete"), at: 1_800_000_100)
      #expect(try await status(alice) == ["studio", "active"])
      #expect(stripe.calls.map(\.path) == ["/v1/subscriptions/sub_1"])
      let end = subscription("canceled", reason: "payment_failed")
      try await send(stack, "customer.subscription.deleted", end, at: 1_800_000_200)
      #expect(try await status(alice) == ["free", "expired"])
      #expect(try await balance(alice) == 50)
    }
  }

  @Test(arguments: engines) func onlyAnUpgradeGrantsBetweenTwoPeriods(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe, alice, objects in
      func change(_ id: String, from old: String, to new: String, amount: Int) async throws {
        stripe.keep(objects.subscription("sub_1", price: new, status: "active", periodEnd: 2_000_000_000))
        let lines = [
          objects.line(old, amount: -500, periodEnd: 2_000_000_000, isProration: true),
          objects.line(new, amount: 500 + amount, periodEnd: 2_000_000_000, isProration: true),
        ]
        let invoice = objects.invoice(
          id, subscription: "sub_1", lines: lines, reason: "subscription_update", amount: amount,
          paidAt: 1_800_000_000)
        try await send(stack, "invoice.paid", invoice, at: 1_800_000_000)
      }
      try await change("in_1", from: BillingProducts.explorerPrice, to: BillingProducts.studioPrice, amount: 4000)
      #expect(try await balance(alice) == 1050)
      try await change("in_2", from: BillingProducts.studioPrice, to: BillingProducts.explorerPrice, amount: 0)
      #expect(try await balance(alice) == 1050)
      #expect(try await status(alice) == ["explorer", "active"])
    }
  }

  @Test(arguments: engines) func aPriceThatIsNotInTheFileIsParked(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe, alice, objects in
      let unknown = objects.subscription("sub_1", price: "price_new", status: "active", periodEnd: 2_000_000_000)
      stripe.keep(unknown)
      try await send(stack, "customer.subscription.created", unknown, at: 1_800_000_000)
      let invoice = objects.invoice(
        "in_1", subscription: "sub_1", lines: [objects.line("price_new", amount: 1, periodEnd: 2_000_000_000)],
        reason: "subscription_create", amount: 1, paidAt: 1_800_000_000)
      try await send(stack, "invoice.paid", invoice, at: 1_800_000_000)
      #expect(try await stack.count("billing_event where status = 'parked'", in: "credits") == 2)
      #expect(try await stack.count("billing_event where reason like '%price_new%'", in: "credits") == 2)
      #expect(try await balance(alice) == 50)
      // Neither do invoices of something else grant anything.
      let other = JSONValue.object(["id": "in_2", "amount_paid": 5, "lines": ["data": []]])
      try await send(stack, "invoice.paid", other, at: 1_800_000_000)
      #expect(try await stack.count("billing_event where status = 'ignored'", in: "credits") == 1)
    }
  }

  @Test func allLinesOfALongInvoiceAreRead() async throws {
    try await withBilling(.sqlite) { stack, stripe, alice, objects in
      stripe.keep(
        objects.subscription(
          "sub_1", price: BillingProducts.explorerPrice, status: "active", periodEnd: 2_000_000_000))
      let first = objects.line("price_of_usage", amount: 5, periodEnd: 2_000_000_000)
      let second = objects.line(BillingProducts.explorerPrice, amount: 799, periodEnd: 2_000_000_000, quantity: 2)
      let invoice = objects.invoice(
        "in_1", subscription: "sub_1", lines: [first], reason: "subscription_cycle", amount: 804,
        paidAt: 1_800_000_000, hasMore: true)
      stripe.keep(invoice.with(["all_lines": [first, second]]))
      try await send(stack, "invoice.paid", invoice, at: 1_800_000_000)
      #expect(try await balance(alice) == 250)
      let purchase = try #require(try await alice.browser.get("/api/v1/billing/purchases").list.first)
      #expect(purchase["quantity"] as? Int == 2)
    }
  }
}
