import Database
import Foundation
import Support
import Testing
import Wire

/// Stripe's events from the webhook to the ledger.
@Suite struct StripeWebhookTests {
  private let settings = BillingProducts.settings

  private func objects(_ user: SignedInUser, _ layout: StripeLayout = .since2025) -> StripeObjects {
    StripeObjects(layout: layout, user: user.id, customer: "cus_\(user.id)".replacing("-", with: ""))
  }

  private func seconds(_ stack: TestStack) -> Int { Int(stack.clock.now.timeIntervalSince1970) }

  private func balance(_ user: SignedInUser) async throws -> Int? {
    try await user.browser.get("/api/v1/credits/balance").int("balance")
  }

  private func billing(_ stack: TestStack) -> Browser { stack.credits.with(stack.with(key: "billing+credits")) }

  private func withBilling(_ engine: Engine, _ body: (TestStack, StripeServer) async throws -> Void) async throws {
    try await withStripe { stripe in
      try await withStack(engine, stripe.settings.merging(settings) { $1 }) { try await body($0, stripe) }
    }
  }

  @Test(arguments: engines) func fiftyDeliveriesOfOneEventGrantOnce(engine: Engine) async throws {
    try await withBilling(engine) { stack, _ in
      let alice = try await stack.signIn("alice")
      let session = objects(alice).session("cs_1", product: BillingProducts.pack, intent: "pi_1")
      let event = try StripeEvent("checkout.session.completed", session, at: seconds(stack))
      let replies = try await atOnce(50) { _ in try await event.send(stack) }
      #expect(replies.allSatisfy { $0.status == 200 && $0.bool("received") == true })
      // The same payment in another event.
      let again = try StripeEvent("checkout.session.async_payment_succeeded", session, at: seconds(stack) + 1)
      #expect(try await again.send(stack).status == 200)
      try await stack.billingInboxSettled()
      #expect(try await stack.count("billing_event", in: "credits") == 2)
      #expect(try await balance(alice) == 100)
      let purchases = try await alice.browser.get("/api/v1/billing/purchases").list
      #expect(purchases.count == 1)
      #expect(purchases.first?["credits"] as? Int == 50)
      #expect(purchases.first?["source"] as? String == "stripe")
      #expect(purchases.first?["status"] as? String == "paid")
      let entry = try #require(try await alice.browser.get("/api/v1/credits/history").list.first)
      #expect(entry["type"] as? String == "stripe_purchase")
      #expect(entry["reference_id"] as? String == "pi_1")
    }
  }

  @Test(arguments: engines) func whatStripeHasNotSignedIsRefusedAndOnlyCounted(engine: Engine) async throws {
    try await withBilling(engine) { stack, _ in
      let alice = try await stack.signIn("alice")
      let session = objects(alice).session("cs_1", product: BillingProducts.pack, intent: "pi_1")
      let event = try StripeEvent("checkout.session.completed", session, at: seconds(stack))
      let good = StripeEvent.signature(of: event.body, at: stack.clock.now)
      func status(_ signature: String?, _ body: Data) async throws -> Int {
        let browser = signature.map { stack.gateway.with(["Stripe-Signature": $0]) } ?? stack.gateway
        return try await browser.send(.POST, "/webhooks/stripe", body: body).status
      }
      let old = StripeEvent.signature(of: event.body, at: stack.clock.now - 301)
      for signature in [nil, "", "t=1", good.replacing("v1=", with: "v0="), old, "x" + good, good + "0"] {
        #expect(try await status(signature, event.body) == 400, "\(signature ?? "none")")
      }
      #expect(try await status(good, event.body + Data(" ".utf8)) == 400)
      let other = StripeEvent.signature(of: event.body, at: stack.clock.now, secret: "whsec_of_somebody_else")
      #expect(try await status(other, event.body) == 400)
      // Signed, but no event.
      let text = Data("[]".utf8)
      #expect(try await status(StripeEvent.signature(of: text, at: stack.clock.now), text) == 400)
      let large = Data(repeating: UInt8(ascii: " "), count: 256 * 1024 + 1)
      #expect(try await status(StripeEvent.signature(of: large, at: stack.clock.now), large) == 413)
      let form = stack.gateway.with(["Stripe-Signature": good, "Content-Type": "text/plain"])
      #expect(try await form.send(.POST, "/webhooks/stripe", body: event.body).status == 415)
      #expect(try await stack.count("billing_event", in: "credits") == 0)
      let metrics = try await stack.credits.with(stack.with(key: "invites")).get("/metrics").text
      #expect(metrics.contains("kith_billing_events_received_total{provider=\"stripe\",result=\"rejected\"} 10"))
      #expect(try await balance(alice) == 50)
      // The premise: the same event is accepted with its signature, also under the secret that comes next.
      let next = StripeEvent.signature(of: event.body, at: stack.clock.now, secret: "whsec_the_next_one")
      #expect(try await status("\(next),v1=00", event.body) == 200)
      try await stack.billingInboxSettled()
      #expect(try await balance(alice) == 100)
    }
  }

  @Test(arguments: engines) func aPoisonEventIsParkedAndBlocksNoOther(engine: Engine) async throws {
    try await withBilling(engine) { stack, _ in
      let alice = try await stack.signIn("alice")
      let session = objects(alice).session("cs_1", product: "no such product", intent: "pi_1")
      let unreadable = session.with(["amount_total": "much"])
      let stranger = StripeObjects(layout: .since2025, user: .new(at: stack.clock.now), customer: "cus_0")
      let poison = [
        session, unreadable, session.with(["metadata": [:], "customer": nil, "client_reference_id": nil]),
        stranger.session("cs_2", product: BillingProducts.pack, intent: "pi_2"),
      ]
      for (index, object) in poison.enumerated() {
        let event = try StripeEvent("checkout.session.completed", object, id: "evt_\(index)", at: seconds(stack))
        #expect(try await event.send(stack).status == 200)
      }
      let good = objects(alice).session("cs_3", product: BillingProducts.pack, intent: "pi_3")
      _ = try await StripeEvent("checkout.session.completed", good, at: seconds(stack)).send(stack)
      _ = try await StripeEvent("some.other.type", good, id: "evt_other", at: seconds(stack)).send(stack)
      try await stack.billingInboxSettled()
      #expect(try await balance(alice) == 100)
      #expect(try await stack.count("billing_event where status = 'ignored'", in: "credits") == 1)
      let parked = try await billing(stack).get("/internal/billing/inbox")["events"] as? [[String: Any]] ?? []
      #expect(parked.map { $0["event_id"] as? String ?? "" }.sorted() == (0..<4).map { "evt_\($0)" })
      #expect(parked.allSatisfy { !(($0["reason"] as? String) ?? "").isEmpty && $0["parked_at"] is String })
      let page = try await billing(stack).get(
        "/internal/billing/inbox?limit=2&after=\(parked[1]["id"] as? String ?? "")")
      #expect((page["events"] as? [[String: Any]])?.count == 2)
      try await eventually("the depth") {
        try await stack.credits.with(stack.with(key: "invites")).get("/metrics").text
          .contains("kith_billing_inbox_depth{provider=\"stripe\",status=\"parked\"} 4")
      }
    }
  }

  @Test(arguments: engines) func aParkedEventIsRetriedByHandWhenItsUserExists(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe in
      let alice = try await stack.signIn("alice")
      let anonymous = StripeObjects(layout: .since2025, user: alice.id, customer: "cus_later")
      let session = anonymous.session("cs_1", product: BillingProducts.pack, intent: "pi_1")
      // Nothing names the user but the customer, who is not stored yet.
      let object = session.with(["metadata": ["product_id": .string(BillingProducts.pack)]])
      _ = try await StripeEvent("checkout.session.completed", object, at: seconds(stack)).send(stack)
      try await stack.billingInboxSettled()
      let parked = try await billing(stack).get("/internal/billing/inbox")["events"] as? [[String: Any]] ?? []
      let id = try #require(parked.first?["id"] as? String)
      #expect(parked.count == 1)
      #expect(try await balance(alice) == 50)
      // Refusals: strangers, and an event that does not exist.
      let path = "/internal/billing/inbox/\(id)/retry"
      #expect(try await stack.credits.post(path).status == 403)
      #expect(try await stack.credits.with(stack.with(key: "plain")).post(path).status == 403)
      #expect(try await stack.credits.with(["X-Admin-Key": "wrong"]).get("/internal/billing/inbox").status == 403)
      #expect(try await stack.gateway.with(["X-Admin-Key": TestStack.adminKey]).post(path).status == 404)
      let nobody = UserID.new(at: stack.clock.now)
      #expect(try await billing(stack).post("/internal/billing/inbox/\(nobody)/retry").status == 404)
      try await stack.execute(
        """
        insert into billing_customer (provider, user_id, customer_id, created_at)
        values ('stripe', \(alice.id), 'cus_later', \(stack.clock.now))
        """)
      let admin = stack.credits.with(["X-Admin-Key": TestStack.adminKey])
      let retried = try await admin.post(path)
      #expect(retried.status == 200)
      #expect(retried.string("status") == "waiting")
      try await stack.billingInboxSettled()
      #expect(try await balance(alice) == 100)
      #expect(try await admin.post(path).status == 409)
      #expect(try await balance(alice) == 100)
    }
  }

  @Test(arguments: engines) func eventsOfTheOtherModeAreWorthNothing(engine: Engine) async throws {
    try await withBilling(engine) { stack, _ in
      let alice = try await stack.signIn("alice")
      let session = objects(alice).session("cs_1", product: BillingProducts.pack, intent: "pi_1")
      let event = try StripeEvent("checkout.session.completed", session, at: seconds(stack), livemode: true)
      #expect(try await event.send(stack).status == 200)
      try await stack.billingInboxSettled()
      #expect(try await stack.count("billing_event where status = 'parked'", in: "credits") == 1)
      #expect(try await balance(alice) == 50)
    }
  }

  @Test(arguments: engines) func anEventOutlivesACrashAfterItWasStored(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe in
      let alice = try await stack.signIn("alice")
      let objects = objects(alice)
      stripe.keep(
        objects.subscription(
          "sub_1", price: BillingProducts.creatorPrice, status: "active", periodEnd: seconds(stack) + 1000))
      let invoice = objects.invoice(
        "in_1", subscription: "sub_1",
        lines: [objects.line(BillingProducts.creatorPrice, amount: 1999, periodEnd: seconds(stack) + 1000)],
        reason: "subscription_create", amount: 1999, paidAt: seconds(stack))
      // Stripe is down: the event is stored and waits.
      stripe.next(.answers(status: 503, body: "down"), times: 2)
      // The next try does not come before the first one was seen.
      stack.clock.stop()
      _ = try await StripeEvent("invoice.paid", invoice, at: seconds(stack)).send(stack)
      try await eventually("a try") {
        try await stack.count("billing_event where tries > 0 and lease is null", in: "credits") == 1
      }
      // Another process has leased the event and was killed.
      try await stack.execute(
        "update billing_event set lease = 'dead', due_at = \(stack.clock.now + 120) where status = 'waiting'")
      #expect(try await stack.count("billing_event where status = 'waiting'", in: "credits") == 1)
      stack.clock.advance(by: .seconds(121))
      stack.clock.run()
      try await stack.billingInboxSettled()
      #expect(try await balance(alice) == 350)
      // The process was killed after the effect and before the event was done.
      try await stack.execute(
        "update billing_event set status = 'waiting', settled_at = null, due_at = \(stack.clock.now)")
      try await stack.billingInboxSettled()
      #expect(try await stack.count("billing_event where status = 'done'", in: "credits") == 1)
      #expect(try await balance(alice) == 350)
      #expect(try await alice.browser.get("/api/v1/billing/status").string("subscription_tier") == "creator")
    }
  }

  @Test func withoutAKeyItSaysWhatIsMissing() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      for reply in [
        try await stack.gateway.post("/webhooks/stripe"),
        try await alice.browser.post(
          "/api/v1/billing/stripe/checkout", ["product_id": "x", "success_url": "https://example.com"]),
        try await alice.browser.get("/api/v1/billing/stripe/portal"),
      ] {
        #expect(reply.status == 503)
        #expect(reply.string("detail").contains("STRIPE_SECRET_KEY"))
      }
      #expect(try await stack.gateway.get("/api/v1/billing/products")["packs"] as? [String] == [])
    }
  }
}

extension TestStack {
  /// Runs a statement on the database of the credits service.
  func execute(_ statement: SQL) async throws {
    let database = try await testDatabase.open("credits", [])
    do { try await database.write { try $0.change(statement) } } catch {
      await database.close()
      throw error
    }
    await database.close()
  }
}
