import Database
import Foundation
import Support
import Testing
import Wire

/// Refunds and disputes take credits back, and give them back.
@Suite struct StripeRefundTests {
  private struct Shop {
    let stack: TestStack
    let stripe: StripeServer
    let alice: SignedInUser
    let objects: StripeObjects

    func send(_ type: String, _ object: JSONValue, at seconds: Int) async throws {
      #expect(try await StripeEvent(type, object, at: seconds).send(stack).status == 200)
      try await stack.billingInboxSettled()
    }

    func buyPack() async throws {
      let session = objects.session("cs_1", product: BillingProducts.pack, intent: "pi_1", amount: 799)
      try await send("checkout.session.completed", session, at: 1_800_000_000)
    }

    func buyPeriod(_ layout: StripeLayout) async throws {
      stripe.keep(
        objects.subscription("sub_1", price: BillingProducts.creatorPrice, status: "active", periodEnd: 1_900_000_000))
      let invoice = objects.invoice(
        "in_1", subscription: "sub_1",
        lines: [objects.line(BillingProducts.creatorPrice, amount: 1999, periodEnd: 1_900_000_000)],
        reason: "subscription_create", amount: 1999, paidAt: 1_800_000_000)
      stripe.keep(invoice)
      stripe.keep(objects.invoicePayment("inpay_1", invoice: "in_1", intent: "pi_1"))
      try await send("invoice.paid", invoice, at: 1_800_000_000)
    }

    func packCharge(refunded: Int) -> JSONValue {
      objects.charge("ch_1", intent: "pi_1", product: BillingProducts.pack, amount: 799, refunded: refunded)
    }

    func refund(_ refunded: Int, at seconds: Int) async throws {
      stripe.keep(packCharge(refunded: refunded))
      try await send("charge.refunded", packCharge(refunded: refunded), at: seconds)
    }

    func dispute(_ event: String, _ status: String, at seconds: Int, id: String = "dp_1") async throws {
      let dispute = objects.dispute(id, charge: "ch_1", intent: "pi_1", amount: 799, status: status)
      try await send("charge.dispute.\(event)", dispute, at: seconds)
    }

    var balance: Int? {
      get async throws { try await alice.browser.get("/api/v1/credits/balance").int("balance") }
    }

    var purchase: [String] {
      get async throws {
        let purchase = try #require(try await alice.browser.get("/api/v1/billing/purchases").list.first)
        return ["\(purchase["credits_taken_back"] ?? "")", "\(purchase["status"] ?? "")"]
      }
    }
  }

  private func withShop(
    _ engine: Engine, _ layout: StripeLayout = .since2025, _ body: (Shop) async throws -> Void
  ) async throws {
    try await withStripe { stripe in
      try await withStack(engine, stripe.settings.merging(BillingProducts.settings) { $1 }) { stack in
        let alice = try await stack.signIn("alice")
        let objects = StripeObjects(layout: layout, user: alice.id, customer: "cus_1")
        try await body(Shop(stack: stack, stripe: stripe, alice: alice, objects: objects))
      }
    }
  }

  @Test(arguments: engines) func refundsAddUpAndTakeTheirShareRoundedUp(engine: Engine) async throws {
    try await withShop(engine) { shop in
      try await shop.buyPack()
      #expect(try await shop.balance == 100)
      try await shop.refund(100, at: 1_800_000_010)
      // 50 × 100 / 799 is 6.26.
      #expect(try await shop.balance == 93)
      #expect(try await shop.purchase == ["7", "partially_refunded"])
      try await shop.refund(799, at: 1_800_000_020)
      #expect(try await shop.balance == 50)
      // The event of the first refund comes again, in another event.
      try await shop.send("charge.refunded", shop.packCharge(refunded: 100), at: 1_800_000_010)
      #expect(try await shop.balance == 50)
      #expect(try await shop.purchase == ["50", "refunded"])
      let entries = try await shop.alice.browser.get("/api/v1/credits/history").list
      #expect(entries.map { $0["amount"] as? Int } == [-43, -7, 50, 50])
      #expect(entries.first?["type"] as? String == "refund")
    }
  }

  @Test(arguments: engines) func aRefundOfWhatIsSpentIsDebtThatTheNextPurchasePays(engine: Engine) async throws {
    try await withShop(engine) { shop in
      try await shop.buyPack()
      let spender = shop.stack.credits.with(shop.stack.with(key: "billing+credits"))
      func spend(_ cost: Int) async throws -> Bool? {
        try await spender.post("/internal/credits/spend", ["user_id": shop.alice.id.description, "cost": cost])
          .bool("success")
      }
      func shown(_ names: String...) async throws -> [Int?] {
        let balance = try await shop.alice.browser.get("/api/v1/credits/balance")
        return names.map { balance.int($0) }
      }
      #expect(try await spend(90) == true)
      #expect(try await shown("balance", "debt") == [10, 0])
      try await shop.refund(799, at: 1_800_000_010)
      #expect(try await shown("balance", "available", "held", "debt") == [0, 0, 0, 40])
      #expect(try await spend(1) == false)
      let history = try await shop.alice.browser.get("/api/v1/credits/history").list
      #expect(history.first?["balance_after"] as? Int == -40)
      let session = shop.objects.session("cs_2", product: BillingProducts.pack, intent: "pi_2")
      try await shop.send("checkout.session.completed", session, at: 1_800_000_020)
      #expect(try await shown("balance", "available", "debt") == [10, 10, 0])
      #expect(try await spend(10) == true)
    }
  }

  @Test(arguments: engines) func aRefundThatComesBeforeItsPurchaseIsNotLost(engine: Engine) async throws {
    try await withShop(engine) { shop in
      try await shop.refund(799, at: 1_800_000_010)
      #expect(try await shop.balance == 50)
      #expect(try await shop.alice.browser.get("/api/v1/billing/purchases").list.isEmpty)
      try await shop.buyPack()
      #expect(try await shop.balance == 50)
      #expect(try await shop.purchase == ["50", "refunded"])
    }
  }

  @Test(arguments: engines, StripeLayout.allCases)
  func aRefundOfAnInvoiceReachesItsSubscription(engine: Engine, layout: StripeLayout) async throws {
    try await withShop(engine, layout) { shop in
      try await shop.buyPeriod(layout)
      #expect(try await shop.balance == 350)
      let charge = shop.objects.charge("ch_1", intent: "pi_1", invoice: "in_1", amount: 1999, refunded: 1000)
      try await shop.send("charge.refunded", charge, at: 1_800_000_010)
      #expect(try await shop.balance == 350 - 151)
      // The charge of something else is parked.
      let other = shop.objects.charge("ch_2", intent: "pi_2", amount: 500, refunded: 500)
      try await shop.send("charge.refunded", other, at: 1_800_000_020)
      #expect(try await shop.stack.count("billing_event where status = 'parked'", in: "credits") == 1)
      #expect(try await shop.balance == 350 - 151)
    }
  }

  @Test(arguments: engines) func aDisputeTakesBackUntilItIsWon(engine: Engine) async throws {
    try await withShop(engine) { shop in
      try await shop.buyPack()
      shop.stripe.keep(shop.packCharge(refunded: 0))
      // An inquiry withholds nothing.
      try await shop.dispute("created", "warning_needs_response", at: 1_800_000_005, id: "dp_0")
      #expect(try await shop.balance == 100)
      try await shop.dispute("created", "needs_response", at: 1_800_000_010)
      #expect(try await shop.balance == 50)
      try await shop.dispute("closed", "won", at: 1_800_000_020)
      #expect(try await shop.balance == 100)
      #expect(try await shop.purchase == ["0", "paid"])
      // Late, and of the second in which it was closed.
      try await shop.dispute("updated", "under_review", at: 1_800_000_020)
      #expect(try await shop.balance == 100)
      try await shop.dispute("created", "needs_response", at: 1_800_000_030, id: "dp_2")
      try await shop.dispute("closed", "lost", at: 1_800_000_040, id: "dp_2")
      #expect(try await shop.balance == 50)
      // Nothing is taken twice.
      try await shop.refund(799, at: 1_800_000_050)
      #expect(try await shop.balance == 50)
      #expect(try await shop.purchase == ["50", "refunded"])
    }
  }

  @Test(arguments: engines) func aRefundThatFailsGivesTheCreditsBack(engine: Engine) async throws {
    try await withShop(engine) { shop in
      try await shop.buyPack()
      try await shop.refund(799, at: 1_800_000_010)
      #expect(try await shop.balance == 50)
      shop.stripe.keep(shop.packCharge(refunded: 0))
      let refund: JSONValue = ["id": "re_1", "object": "refund", "charge": "ch_1", "status": "failed"]
      try await shop.send("refund.failed", refund, at: 1_800_086_400)
      #expect(try await shop.balance == 100)
      #expect(try await shop.purchase == ["0", "paid"])
    }
  }

  @Test(arguments: engines) func purchaseAndRefundAtOnceEndRight(engine: Engine) async throws {
    try await withShop(engine) { shop in
      var events: [StripeEvent] = []
      for index in 0..<12 {
        let (intent, charge) = ("pi_\(index)x", "ch_\(index)x")
        let session = shop.objects.session("cs_\(index)", product: BillingProducts.pack, intent: intent)
        let refunded = shop.objects.charge(
          charge, intent: intent, product: BillingProducts.pack, amount: 799, refunded: 799)
        events.append(try StripeEvent("checkout.session.completed", session, at: 1_800_000_000))
        events.append(try StripeEvent("charge.refunded", refunded, at: 1_800_000_001))
      }
      let sent = events
      let replies = try await atOnce(sent.count) { try await sent[$0].send(shop.stack).status }
      #expect(replies.allSatisfy { $0 == 200 })
      try await shop.stack.billingInboxSettled()
      #expect(try await shop.balance == 50)
      #expect(try await shop.stack.count("billing_purchase where status = 'refunded'", in: "credits") == 12)
    }
  }
}
