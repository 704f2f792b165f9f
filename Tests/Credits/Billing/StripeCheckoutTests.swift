import Database
import Foundation
import Support
import Testing
import Web
import Wire

/// The pages of Stripe's on which users pay.
@Suite struct StripeCheckoutTests {
  private static let redirects = "https://app.example.com/paid,kith://"

  private func withBilling(
    _ engine: Engine = .sqlite, redirects: String = redirects, _ body: (TestStack, StripeServer) async throws -> Void
  ) async throws {
    try await withStripe { stripe in
      let settings = [stripe.settings, BillingProducts.settings, ["CHECKOUT_REDIRECTS": redirects]]
        .reduce(into: [:]) { $0.merge($1) { $1 } }
      try await withStack(engine, settings) { try await body($0, stripe) }
    }
  }

  private let path = "/api/v1/billing/stripe/checkout"

  @Test(arguments: engines) func aPackIsBoughtOnAPageOfStripes(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe in
      let alice = try await stack.signIn("alice")
      let body = [
        "product_id": BillingProducts.pack, "success_url": "https://app.example.com/paid/{CHECKOUT_SESSION_ID}",
        "cancel_url": "kith://shop",
      ]
      let reply = try await alice.browser.post(path, body)
      #expect(reply.status == 200)
      #expect(reply.string("checkout_url") == "https://checkout.stripe.test/pay")
      let customer = try #require(stripe.objects(beginning: "cus_").first)
      #expect(customer["form"]?["metadata[user_id]"]?.text == alice.id.description)
      let form = try #require(stripe.calls.last?.form)
      #expect(
        form == [
          "mode": "payment", "customer": customer["id"]?.text ?? "", "client_reference_id": alice.id.description,
          "line_items[0][price]": BillingProducts.packPrice, "line_items[0][quantity]": "1",
          "success_url": "https://app.example.com/paid/{CHECKOUT_SESSION_ID}", "cancel_url": "kith://shop",
          "metadata[user_id]": alice.id.description, "metadata[product_id]": BillingProducts.pack,
          "payment_intent_data[metadata][user_id]": alice.id.description,
          "payment_intent_data[metadata][product_id]": BillingProducts.pack,
        ])
      // No personal data goes to Stripe.
      #expect(stripe.calls.allSatisfy { call in !call.form.values.contains { $0.contains("@") } })
      let subscribed = try await alice.browser.post(
        path, ["product_id": "com.timepoint.flash.sub.creator"])
      #expect(subscribed.status == 200)
      let second = try #require(stripe.calls.last?.form)
      #expect(second["mode"] == "subscription")
      #expect(second["success_url"] == "https://app.example.com/paid")
      #expect(second["subscription_data[metadata][user_id]"] == alice.id.description)
      #expect(second["customer"] == form["customer"])
      #expect(stripe.objects(beginning: "cus_").count == 1)
    }
  }

  @Test(arguments: engines) func fiftyAtOnceHaveOneCustomer(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe in
      let alice = try await stack.signIn("alice")
      let replies = try await atOnce(50) { _ in
        try await alice.browser.post(path, ["product_id": BillingProducts.pack])
      }
      #expect(replies.allSatisfy { $0.status == 200 })
      #expect(stripe.objects(beginning: "cus_").count == 1)
      #expect(stripe.objects(beginning: "cs_").count == 50)
      #expect(try await stack.count("billing_customer", in: "credits") == 1)
    }
  }

  @Test func aRequestUnderOneKeyHasOneSession() async throws {
    try await withBilling { stack, stripe in
      let alice = try await stack.signIn("alice")
      let keyed = alice.browser.with(["Idempotency-Key": "one"])
      for _ in 0..<3 {
        #expect(try await keyed.post(path, ["product_id": BillingProducts.pack]).status == 200)
      }
      #expect(stripe.objects(beginning: "cs_").count == 1)
      let other = try await keyed.post(path, ["product_id": "com.timepoint.flash.credits.10"])
      #expect(other.status == 422)
      #expect(other.string("code") == "idempotency_key_reused")
    }
  }

  @Test func whatIsNotSoldAndWhereNobodyMayBeSentIsRefused() async throws {
    try await withBilling { stack, stripe in
      let alice = try await stack.signIn("alice")
      let pack = BillingProducts.pack
      let refused: [([String: any Sendable], String)] = [
        (["product_id": "unknown"], "product_id"), ([:], "product_id"), (["product_id": 5], "product_id"),
        (["product_id": pack, "success_url": "https://evil.example.com/paid"], "success_url"),
        (["product_id": pack, "success_url": "https://app.example.com.evil.com/paid"], "success_url"),
        (["product_id": pack, "success_url": "https://app.example.com@evil.com/paid"], "success_url"),
        (["product_id": pack, "success_url": "https://app.example.com/paid/../admin"], "success_url"),
        (["product_id": pack, "success_url": "https://app.example.com/other"], "success_url"),
        (["product_id": pack, "success_url": "http://app.example.com/paid"], "success_url"),
        (["product_id": pack, "success_url": "javascript:alert(1)"], "success_url"),
        (["product_id": pack, "cancel_url": "other://shop"], "cancel_url"),
        (["product_id": pack, "cancel_url": "https://app.example.com/paid?a=\n"], "cancel_url"),
      ]
      for (body, field) in refused {
        let reply = try await alice.browser.post(path, body)
        #expect(reply.status == 422, "\(body)")
        #expect(((reply["errors"] as? [[String: Any]])?.first?["field"] as? String) == field, "\(body)")
      }
      #expect(stripe.calls.isEmpty)
      #expect(try await stack.gateway.post(path, ["product_id": pack]).status == 401)
      #expect(try await stack.gateway.get("/api/v1/billing/stripe/portal").status == 401)
    }
  }

  @Test func withoutRedirectsEveryHTTPSAddressIsAllowed() async throws {
    try await withBilling(redirects: "") { stack, _ in
      let alice = try await stack.signIn("alice")
      let pack = BillingProducts.pack
      for (url, status) in [("https://any.example.com/x", 200), ("kith://paid", 422), ("http://a.example.com", 422)] {
        #expect(try await alice.browser.post(path, ["product_id": pack, "success_url": url]).status == status)
      }
      #expect(try await alice.browser.post(path, ["product_id": pack]).status == 422)
    }
  }

  @Test(arguments: engines) func whoHasASubscriptionBuysNoSecondOne(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe in
      let alice = try await stack.signIn("alice")
      let end = Int(stack.clock.now.timeIntervalSince1970) + 1000
      let objects = StripeObjects(layout: .since2025, user: alice.id, customer: "cus_1")
      let subscription = objects.subscription(
        "sub_1", price: BillingProducts.explorerPrice, status: "active", periodEnd: end)
      _ = try await StripeEvent("customer.subscription.created", subscription, at: end).send(stack)
      try await stack.billingInboxSettled()
      let reply = try await alice.browser.post(path, ["product_id": "com.timepoint.flash.sub.studio"])
      #expect(reply.status == 409)
      #expect(reply.string("code") == "already_subscribed")
      #expect(try await alice.browser.post(path, ["product_id": BillingProducts.pack]).status == 200)
    }
  }

  /// While a payment is tried again the tier lasts until the end of the period, and so does the refusal.
  @Test(arguments: engines) func whoseTierHasEndedMayBuyAnotherPlan(engine: Engine) async throws {
    try await withBilling(engine) { stack, stripe in
      let alice = try await stack.signIn("alice")
      let now = Int(stack.clock.now.timeIntervalSince1970)
      let objects = StripeObjects(layout: .since2025, user: alice.id, customer: "cus_1")
      let subscription = objects.subscription(
        "sub_1", price: BillingProducts.explorerPrice, status: "past_due", periodEnd: now + 1000)
      _ = try await StripeEvent("customer.subscription.updated", subscription, at: now).send(stack)
      try await stack.billingInboxSettled()
      let order = ["product_id": "com.timepoint.flash.sub.studio"]
      #expect(try await alice.browser.get("/api/v1/billing/status").string("subscription_tier") == "explorer")
      #expect(try await alice.browser.post(path, order).status == 409)
      stack.clock.advance(by: .seconds(1001))
      let later = try await stack.signIn("alice")
      #expect(try await later.browser.get("/api/v1/billing/status").string("subscription_tier") == "free")
      #expect(try await later.browser.post(path, order).status == 200)
    }
  }

  @Test func thePortalIsForCustomers() async throws {
    try await withBilling { stack, stripe in
      let alice = try await stack.signIn("alice")
      let portal = "/api/v1/billing/stripe/portal"
      let before = try await alice.browser.get(portal)
      #expect(before.status == 404)
      #expect(before.string("code") == "no_stripe_customer")
      _ = try await alice.browser.post(path, ["product_id": BillingProducts.pack])
      let reply = try await alice.browser.get(portal)
      #expect(reply.status == 200)
      #expect(reply.string("portal_url") == "https://billing.stripe.test/session")
      #expect(stripe.calls.last?.form["return_url"] == "https://app.example.com/paid")
      let bob = try await stack.signIn("bob")
      #expect(try await bob.browser.get(portal).status == 404)
    }
  }

  @Test func aCustomerThatStripeDoesNotKnowAnyMoreIsReplaced() async throws {
    try await withBilling { stack, stripe in
      let alice = try await stack.signIn("alice")
      _ = try await alice.browser.post(path, ["product_id": BillingProducts.pack])
      let first = try #require(stripe.calls.last?.form["customer"])
      stripe.forget(first)
      #expect(try await alice.browser.get("/api/v1/billing/stripe/portal").status == 404)
      #expect(try await alice.browser.post(path, ["product_id": BillingProducts.pack]).status == 200)
      let second = try #require(stripe.calls.last?.form["customer"])
      #expect(second != first)
      #expect(try await stack.count("billing_customer", in: "credits") == 1)
    }
  }

  @Test func stripesErrorsSayNothingOfOurAccount() async throws {
    try await withBilling { stack, stripe in
      let alice = try await stack.signIn("alice")
      let message = "Invalid API Key provided: \(StripeServer.secretKey)"
      let body = "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"\(message)\"}}"
      for (status, answered) in [(401, 503), (403, 503), (400, 502), (402, 502), (429, 503), (500, 502), (503, 502)] {
        stripe.next(.answers(status: status, body: body))
        let reply = try await alice.browser.post(path, ["product_id": BillingProducts.pack])
        #expect(reply.status == answered, "\(status)")
        #expect(!reply.text.contains("sk_test") && !reply.text.contains("API Key"))
      }
      stripe.next(.answers(status: 200, body: "<html>"))
      #expect(try await alice.browser.post(path, ["product_id": BillingProducts.pack]).status == 502)
      // The premise: without an error it works.
      #expect(try await alice.browser.post(path, ["product_id": BillingProducts.pack]).status == 200)
    }
  }

  @Test func whoeverCannotReachStripeIsToldSo() async throws {
    let settings = [
      "STRIPE_BASE_URL": "http://127.0.0.1:1", "STRIPE_SECRET_KEY": StripeServer.secretKey,
      "STRIPE_WEBHOOK_SECRET": StripeServer.webhookSecret,
    ].merging(BillingProducts.settings) { $1 }
    try await withStack(.sqlite, settings) { stack in
      let alice = try await stack.signIn("alice")
      let reply = try await alice.browser.post(
        path, ["product_id": BillingProducts.pack, "success_url": "https://example.com"])
      #expect(reply.status == 503)
      #expect(reply.string("code") == "stripe_unavailable")
      #expect(reply.headers.first(name: "retry-after") != nil)
    }
  }
}
