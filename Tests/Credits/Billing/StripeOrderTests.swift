import Database
import Foundation
import Support
import Testing
import Wire

/// Stripe promises neither an order of its events nor that each comes once.
@Suite struct StripeOrderTests {
  /// What users and operators see of the purchases of one user.
  private struct FinalState: Equatable {
    let balance: Int?
    let purchases: [String]
    let status: [String]
  }

  private func finalState(_ user: SignedInUser) async throws -> FinalState {
    let purchases = try await user.browser.get("/api/v1/billing/purchases?limit=100").list.map { purchase in
      ["product_id", "quantity", "credits", "credits_taken_back", "amount", "status", "purchased_at", "expires_at"]
        .map { "\(purchase[$0] ?? "")" }.joined(separator: " ")
    }
    let status = try await user.browser.get("/api/v1/billing/status")
    return FinalState(
      balance: try await user.browser.get("/api/v1/credits/balance").int("balance"), purchases: purchases.sorted(),
      status: ["subscription_tier", "status", "current_period_end", "product_id", "will_renew"].map {
        "\(status[$0] ?? "")"
      })
  }

  private func send(_ events: [StripeEvent], to stack: TestStack) async throws {
    let statuses = try await atOnce(events.count) { try await events[$0].send(stack).status }
    #expect(statuses.allSatisfy { $0 == 200 })
  }

  /// Delivers a life once in order to one user, and the same life six times in random order to another.
  private func check(seed: UInt64, _ stack: TestStack, _ stripe: StripeServer) async throws -> FinalState {
    let (alice, bob) = (try await stack.signIn("alice\(seed)"), try await stack.signIn("bob\(seed)"))
    let start = stack.clock.now
    func life(_ user: SignedInUser, _ suffix: String) throws -> StripeLife {
      let layout: StripeLayout = seed.isMultiple(of: 2) ? .before2025 : .since2025
      let objects = StripeObjects(layout: layout, user: user.id, customer: "cus_\(suffix)")
      return try StripeLife(seed: seed, objects, suffix: suffix, on: stripe, at: start)
    }
    for event in try life(alice, "a\(seed)x").events {
      #expect(try await event.send(stack).status == 200)
      try await stack.billingInboxSettled()
    }
    var random = SeededRandom(seed: seed &+ 1000)
    let events = try life(bob, "b\(seed)x").events
    let delivered = Array(repeating: events, count: 6).flatMap(\.self).shuffled(using: &random)
    for first in stride(from: 0, to: delivered.count, by: 8) {
      try await send(Array(delivered[first..<min(first + 8, delivered.count)]), to: stack)
    }
    try await stack.billingInboxSettled()
    let expected = try await finalState(alice)
    #expect(try await finalState(bob) == expected, "seed \(seed)")
    return expected
  }

  @Test(arguments: engines) func sixDeliveriesInAnyOrderEndAsOneInOrder(engine: Engine) async throws {
    try await withStripe { stripe in
      try await withStack(engine, stripe.settings.merging(BillingProducts.settings) { $1 }) { stack in
        var states: [FinalState] = []
        for seed in UInt64(1)...8 { states.append(try await check(seed: seed, stack, stripe)) }
        #expect(try await stack.count("billing_event where status = 'parked'", in: "credits") == 0)
        // The lives were not all without refunds, ends or upgrades.
        #expect(states.contains { $0.purchases.contains { $0.contains("refunded") } })
        #expect(Set(states.map(\.status)).count > 2)
        #expect(Set(states.map(\.balance)).count > 4)
      }
    }
  }
}
