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

  private static let seeds = Array(UInt64(1)...8)

  /// The users of one round of deliveries, and what Stripe sends of each: by the seed, the same lives in each round.
  private func lives(
    _ round: String, _ stack: TestStack, _ stripe: StripeServer, at start: Date
  ) async throws -> [(user: SignedInUser, life: StripeLife)] {
    var lives: [(user: SignedInUser, life: StripeLife)] = []
    for seed in Self.seeds {
      let (user, suffix) = (try await stack.signIn("\(round)\(seed)"), "\(round)\(seed)x")
      let layout: StripeLayout = seed.isMultiple(of: 2) ? .before2025 : .since2025
      let objects = StripeObjects(layout: layout, user: user.id, customer: "cus_\(suffix)")
      lives.append((user, try StripeLife(seed: seed, objects, suffix: suffix, on: stripe, at: start)))
    }
    return lives
  }

  private func deliverInOrder(_ lives: [StripeLife], to stack: TestStack) async throws {
    for index in 0..<(lives.map(\.events.count).max() ?? 0) {
      try await send(lives.compactMap { $0.events.dropFirst(index).first }, to: stack)
      try await stack.billingInboxSettled()
    }
  }

  private func deliverSixTimesInAnyOrder(_ lives: [StripeLife], to stack: TestStack) async throws {
    var random = SeededRandom(seed: 42)
    let events = Array(repeating: lives.flatMap(\.events), count: 6).flatMap(\.self).shuffled(using: &random)
    for first in stride(from: 0, to: events.count, by: 16) {
      try await send(Array(events[first..<min(first + 16, events.count)]), to: stack)
    }
    try await stack.billingInboxSettled()
  }

  @Test(arguments: engines) func sixDeliveriesInAnyOrderEndAsOneInOrder(engine: Engine) async throws {
    try await withStripe { stripe in
      try await withStack(engine, stripe.settings.merging(BillingProducts.settings) { $1 }) { stack in
        let start = stack.clock.now
        let once = try await lives("alice", stack, stripe, at: start)
        try await deliverInOrder(once.map(\.life), to: stack)
        let often = try await lives("bob", stack, stripe, at: start)
        try await deliverSixTimesInAnyOrder(often.map(\.life), to: stack)
        var states: [FinalState] = []
        for (seed, (alice, bob)) in zip(Self.seeds, zip(once, often)) {
          let expected = try await finalState(alice.user)
          #expect(try await finalState(bob.user) == expected, "seed \(seed)")
          states.append(expected)
        }
        #expect(try await stack.count("billing_event where status = 'parked'", in: "credits") == 0)
        // The lives were not all without refunds, ends or upgrades.
        #expect(states.contains { $0.purchases.contains { $0.contains("refunded") } })
        #expect(Set(states.map(\.status)).count > 2)
        #expect(Set(states.map(\.balance)).count > 4)
      }
    }
  }
}
