import Foundation
import Wire

/// Applies Stripe's events, in any order. What has happened to money is recorded by the id of the payment; the state of
/// a subscription is that of the newest event, or is fetched where an event does not say it.
struct StripeEventProcessor: BillingEventProcessor {
  /// nil when Stripe is not configured any more.
  let account: StripeAccount?
  let payments: StripePayments
  let subscriptions: StripeSubscriptions
  let refunds: StripeRefunds

  func process(_ event: StoredBillingEvent) async throws -> UserID? {
    guard let account else { throw ParkedEvent("STRIPE_SECRET_KEY is not set") }
    let head = try JSON.decode(StripeEventHead.self, from: event.body)
    guard head.livemode == account.isLive else {
      throw ParkedEvent("an event of the \(head.livemode ? "live" : "test") mode is worth nothing in this environment")
    }
    func object<T: Decodable>(as type: T.Type = T.self) throws -> T {
      try JSON.decode(StripeEventContent<T>.self, from: event.body).data.object
    }
    switch head.type {
    case "checkout.session.completed", "checkout.session.async_payment_succeeded":
      return try await apply(object(as: StripeSession.self), head)
    case "invoice.paid": return try await payments.applyPaid(object(), at: head.createdAt)
    case "invoice.payment_failed":
      let invoice: StripeInvoice = try object()
      guard let id = invoice.subscriptionID else { throw IgnoredEvent("an invoice without a subscription") }
      return try await subscriptions.refresh(id, at: head.createdAt)?.user
    case "customer.subscription.created", "customer.subscription.updated", "customer.subscription.deleted",
      "customer.subscription.paused", "customer.subscription.resumed":
      return try await subscriptions.apply(object(), at: head.createdAt)
    case "charge.refunded": return try await refunds.apply(object(as: StripeCharge.self), at: head.createdAt)
    case "refund.failed": return try await refunds.applyFailed(object(), at: head.createdAt)
    case "charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed",
      "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated":
      return try await refunds.apply(object(as: StripeDispute.self), at: head.createdAt)
    case "checkout.session.async_payment_failed", "checkout.session.expired":
      // Nothing was granted or reserved for the session.
      throw IgnoredEvent("a session that was not paid")
    default: throw IgnoredEvent("an event of a type that changes nothing here")
    }
  }

  private func apply(_ session: StripeSession, _ head: StripeEventHead) async throws -> UserID? {
    switch session.mode {
    case "payment": return try await payments.applyCompleted(session, at: head.createdAt)
    case "subscription":
      guard let id = session.subscription?.id else { throw ParkedEvent("a session without its subscription") }
      return try await subscriptions.refresh(id, at: head.createdAt)?.user
    default: throw IgnoredEvent("a session in which nothing is bought")
    }
  }
}
