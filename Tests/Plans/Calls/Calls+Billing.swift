import Foundation
import Support
import Wire

extension Calls {
  /// Purchases, refunds, subscriptions and the inbox of billing events.
  func billingCalls() async throws {
    let alice = try await signIn(1)
    let checkout: [String: any Sendable] = ["product_id": BillingProducts.pack, "success_url": "https://example.com"]
    for _ in 0..<2 { try await alice.browser.ok(.POST, "/api/v1/billing/stripe/checkout", checkout) }
    try await alice.browser.ok(.GET, "/api/v1/billing/stripe/portal")
    try await sendStripeEvents(of: alice)
    try await stack.billingInboxSettled()
    try await alice.browser.ok(.GET, "/api/v1/billing/status")
    try await alice.browser.ok(.GET, "/api/v1/billing/purchases?limit=1")
    let billing = inside(stack.credits, as: "billing+credits")
    let parked = try await billing.get("/internal/billing/inbox")["events"] as? [[String: Any]] ?? []
    for event in parked.prefix(1) {
      try await billing.ok(.POST, "/internal/billing/inbox/\(event["id"] as? String ?? "")/retry")
    }
    _ = try await billing.post("/internal/billing/inbox/\(alice.id)/retry")
    try await stack.billingInboxSettled()
    // A customer that Stripe does not know any more.
    if let customer = stripe.objects(beginning: "cus_").first?["id"]?.text { stripe.forget(customer) }
    try await alice.browser.ok(.POST, "/api/v1/billing/stripe/checkout", checkout)
  }

  private func sendStripeEvents(of user: SignedInUser) async throws {
    let customer: [String: JSONValue] = ["customer": "cus_plans", "metadata": ["user_id": .string("\(user.id)")]]
    let session = JSONValue.object([
      "id": "cs_plans", "mode": "payment", "payment_status": "paid", "payment_intent": "pi_plans",
      "amount_total": 799, "currency": "usd", "customer": "cus_plans",
      "metadata": ["user_id": .string("\(user.id)"), "product_id": .string(BillingProducts.pack)],
    ])
    let charge: JSONValue = [
      "id": "ch_plans", "amount": 799, "amount_refunded": 799, "payment_intent": "pi_plans", "metadata": [:],
    ]
    let subscription = JSONValue.object([
      "id": "sub_plans", "status": "active", "current_period_end": 2_000_000_000,
      "items": ["data": [["price": ["id": .string(BillingProducts.creatorPrice)]]]],
    ]).with(customer)
    stripe.keep(subscription)
    let unknown: JSONValue = ["id": "cs_x", "mode": "payment", "payment_status": "paid", "customer": "cus_unknown"]
    let events = [
      ("checkout.session.completed", session), ("charge.refunded", charge),
      ("customer.subscription.created", subscription), ("customer.subscription.updated", subscription),
      ("checkout.session.completed", unknown),
    ]
    for (type, object) in events {
      _ = try await StripeEvent(type, object, at: 1_800_000_000).send(stack)
      try await stack.billingInboxSettled()
    }
  }
}
