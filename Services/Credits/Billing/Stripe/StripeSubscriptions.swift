import Foundation
import Wire

/// Keeps the state of subscriptions as Stripe's newest event says, or as Stripe answers.
struct StripeSubscriptions: Sendable {
  let client: StripeClient?
  let products: Products
  let store: SubscriptionStore
  let users: StripeUsers
  let environment: String

  /// How often a state is fetched again because another one was applied meanwhile.
  private static let fetchesMax = 5

  /// Applies the state in an event. Events of one second are in no order: then the state is fetched.
  func apply(_ subscription: StripeSubscription, at createdAt: Date) async throws -> UserID? {
    if let stored = try await store.subscription(.stripe, subscription.id), stored.stateAt >= createdAt {
      return stored.stateAt == createdAt
        ? try await refresh(subscription.id, at: createdAt)?.user : stored.user
    }
    let state = try await state(subscription, at: createdAt)
    if try await store.apply(state) { return state.user }
    // Another event of the subscription was applied at the same time.
    return try await refresh(subscription.id, at: createdAt)?.user
  }

  /// Fetches the state of a subscription, unless the stored one is newer than the event.
  ///
  /// - Parameter createdAt: the time of the event. The state that Stripe answers is as new or newer; events in between
  ///   are applied when they come.
  @discardableResult
  func refresh(_ id: String, at createdAt: Date) async throws -> StoredSubscription? {
    for _ in 0..<Self.fetchesMax {
      let stored = try await store.subscription(.stripe, id)
      if let stored, stored.stateAt > createdAt { return stored }
      let fetched = try await fetch(id)
      if try await store.apply(try await state(fetched, at: createdAt), replacing: .revision(stored?.revision)) {
        return try await store.subscription(.stripe, id)
      }
    }
    throw StripeSubscriptionContended()
  }

  /// All lines of an invoice: an event has the first ten.
  func lines(of invoice: StripeInvoice) async throws -> [StripeInvoiceLine] {
    guard invoice.lines.has_more == true, let client else { return invoice.lines.data }
    let path = try StripeClient.path("invoices", invoice.id) + "/lines"
    return try await client.get(path, [("limit", "100")], as: StripeList<StripeInvoiceLine>.self).data
  }

  private func fetch(_ id: String) async throws -> StripeSubscription {
    guard let client else { throw ParkedEvent("STRIPE_SECRET_KEY is not set") }
    do { return try await client.get(try StripeClient.path("subscriptions", id)) } catch let error as StripeError
      where error.isMissing()
    {
      throw ParkedEvent("Stripe has no such subscription")
    }
  }

  private func state(_ subscription: StripeSubscription, at createdAt: Date) async throws -> Subscription {
    let plans = subscription.items.data.compactMap { item in
      products.product(stripePrice: item.price.id).flatMap { product in
        product.plan.map { (product: product, plan: $0, end: item.current_period_end) }
      }
    }
    guard let found = plans.max(by: { $0.plan.level < $1.plan.level }) else {
      let prices = subscription.items.data.map(\.price.id).joined(separator: ", ")
      throw ParkedEvent("unknown price \(prices): it is no subscription of BILLING_PRODUCTS")
    }
    let user = try await users.user(subscription.metadata, customer: subscription.customer)
    let end = found.end ?? subscription.current_period_end
    return Subscription(
      provider: .stripe, id: subscription.id, user: user, productID: found.product.id, tier: found.plan.tier,
      level: found.plan.level, status: subscription.entitlement,
      currentPeriodEnd: end.map { Date(timeIntervalSince1970: Double($0)) }, willRenew: subscription.willRenew,
      environment: environment, stateAt: createdAt)
  }
}

/// The state of a subscription changed with each attempt to apply it. Another try follows.
struct StripeSubscriptionContended: Error, CustomStringConvertible {
  var description: String { "the subscription changed meanwhile" }
}

extension StripeSubscription {
  /// What Stripe's status means for the service.
  var entitlement: Subscription.Status {
    switch status {
    case "trialing", "active": .active
    case "past_due": .pastDue
    case "canceled": cancellation_details?.reason == "payment_failed" ? .expired : .canceled
    // Stripe has given up, or waits for a payment method after the trial.
    case "unpaid", "paused", "incomplete_expired": .expired
    default: .none
    }
  }

  var willRenew: Bool {
    (entitlement == .active || entitlement == .pastDue) && cancel_at_period_end != true && cancel_at == nil
  }
}
