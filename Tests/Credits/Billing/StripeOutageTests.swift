import Database
import Foundation
import Support
import Testing
import Wire

/// A Stripe that does the work, but whose answer does not arrive: nothing is half done, and the work is done once.
@Suite struct StripeOutageTests {
  private let path = "/api/v1/billing/stripe/checkout"
  private let order = ["product_id": BillingProducts.pack, "success_url": "https://example.com"]

  private func withBilling(_ engine: Engine, _ body: (TestStack, StripeServer) async throws -> Void) async throws {
    try await withStripe { stripe in
      try await withStack(engine, stripe.settings.merging(BillingProducts.settings) { $1 }) { stack in
        try await body(stack, stripe)
      }
    }
  }

  /// Does not wait for as long as the service would.
  private func impatient(_ user: SignedInUser, _ stack: TestStack) -> Browser {
    stack.credits.bearing(user.access).with(["X-Timeout-Ms": "6000", "Idempotency-Key": "one"])
  }

  @Test(arguments: engines) func aStripeThatHangsIsATimeoutAndTheSameRequestGoesOn(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe in
      let alice = try await stack.signIn("alice")
      let browser = impatient(alice, stack)
      // It makes the customer, then the page; neither answer comes.
      for (prefix, customers) in [("cus_", 0), ("cs_", 1)] {
        if prefix == "cs_" { stripe.next(.works) }
        stripe.next(.hangs)
        let reply = try await browser.post(path, order)
        #expect(reply.status == 504)
        #expect(stripe.objects(beginning: prefix).count == 1, "it was made")
        #expect(try await stack.count("billing_customer", in: "credits") == customers)
        #expect(try await stack.count("billing_purchase", in: "credits") == 0)
      }
      let reply = try await browser.with(["X-Timeout-Ms": "30000"]).post(path, order)
      #expect(reply.status == 200, "\(reply.text)")
      #expect(stripe.objects(beginning: "cus_").count == 1)
      #expect(stripe.objects(beginning: "cs_").count == 1)
    }
  }

  @Test(arguments: engines) func anAnswerThatIsLostIsAskedForAgain(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe in
      let alice = try await stack.signIn("alice")
      // The first answer to each of the two calls.
      stripe.next(.breaksOff)
      let customer = try await alice.browser.post(path, order)
      #expect(customer.status == 200)
      stripe.next(.breaksOff)
      let session = try await alice.browser.post(path, order)
      #expect(session.status == 200)
      #expect(session.string("checkout_url") == "https://checkout.stripe.test/pay")
      #expect(stripe.objects(beginning: "cus_").count == 1)
      #expect(stripe.objects(beginning: "cs_").count == 2)
      // Each second attempt has the key of the first.
      let keys = stripe.calls.compactMap(\.idempotencyKey)
      #expect(keys.count == 5 && Set(keys).count == 3)
      // Two answers are lost: that is said, and the next request finds the customer.
      stripe.next(.breaksOff, times: 2)
      let bob = try await stack.signIn("bob")
      let lost = try await bob.browser.post(path, order)
      #expect(lost.status == 503)
      #expect(lost.string("code") == "stripe_unavailable")
      #expect(try await bob.browser.post(path, order).status == 200)
      #expect(stripe.objects(beginning: "cus_").count == 2)
    }
  }

  /// An event for which Stripe has to be asked waits, and is applied once Stripe answers again.
  @Test(arguments: engines) func anEventWaitsForAStripeThatDoesNotAnswer(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe in
      let alice = try await stack.signIn("alice")
      let objects = StripeObjects(layout: .since2025, user: alice.id, customer: "cus_1")
      stripe.keep(
        objects.subscription(
          "sub_1", price: BillingProducts.creatorPrice, status: "active", periodEnd: 1_900_000_000))
      let invoice = objects.invoice(
        "in_1", subscription: "sub_1",
        lines: [objects.line(BillingProducts.creatorPrice, amount: 1999, periodEnd: 1_900_000_000)],
        reason: "subscription_create", amount: 1999, paidAt: 1_800_000_000)
      stripe.next(.breaksOff, times: 2)
      // The next try does not come before the first one was seen.
      stack.clock.stop()
      _ = try await StripeEvent("invoice.paid", invoice, at: 1_800_000_000).send(stack)
      try await eventually("a try") {
        try await stack.count("billing_event where tries > 0 and lease is null", in: "credits") == 1
      }
      #expect(try await stack.count("billing_event where status = 'waiting'", in: "credits") == 1)
      stack.clock.advance(by: .seconds(60))
      stack.clock.run()
      try await stack.billingInboxSettled()
      #expect(try await stack.count("billing_event where status = 'done'", in: "credits") == 1)
      let later = try await stack.signIn("alice")
      #expect(try await later.browser.get("/api/v1/credits/balance").int("balance") == 350)
      #expect(try await later.browser.get("/api/v1/billing/status").string("subscription_tier") == "creator")
    }
  }
}
