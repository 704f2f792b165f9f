import ClientBodies
import Database
import Foundation
import Outbox
import Wire

/// Exports and erases what billing keeps about a user: purchases, subscriptions, the customer at Stripe and the events
/// as they were received. Purchases and subscriptions stay without the user, for the accounts and so that an event which
/// is delivered again is still known.
struct BillingPersonalData: Sendable {
  let purchases: PurchaseStore
  let subscriptions: SubscriptionStore
  let events: BillingEventStore
  /// Deletes the customer at Stripe; nil when Stripe is not configured.
  let stripeOutbox: Outbox?

  struct Export: Encodable, Sendable {
    let purchases: [BillingPurchase]
    let subscriptions: [SubscriptionBody]
    let stripe_customer: String?
    /// nil when the user has never been asked.
    let apple_consent: Bool?
    let events: [EventBody]
  }

  struct SubscriptionBody: Encodable, Sendable {
    let source: PurchaseProvider
    let subscription_id: String
    let product_id: String
    let status: Subscription.Status
    @NullCodable var current_period_end: Date?
    let will_renew: Bool
  }

  struct EventBody: Encodable, Sendable {
    let source: PurchaseProvider
    let event_id: String
    let type: String
    let received_at: Date
    let body: Wire.JSONValue
  }

  private static let purchasesMax = 100_000

  func export(of user: UserID) async throws -> Export {
    Export(
      purchases: try await purchases.purchases(of: user, limit: Self.purchasesMax).map(BillingPurchase.init),
      subscriptions: try await subscriptions.subscriptions(of: user).map { subscription in
        SubscriptionBody(
          source: subscription.provider, subscription_id: subscription.id, product_id: subscription.productID,
          status: subscription.status, current_period_end: subscription.currentPeriodEnd,
          will_renew: subscription.willRenew)
      },
      stripe_customer: try await StripeCustomerStore(database: events.database).customer(of: user),
      apple_consent: try await events.database.readOnce { try AppleConsentStore.consent(of: user, on: $0) },
      events: try await events.events(of: user).map { event in
        EventBody(
          source: event.provider, event_id: event.eventID, type: event.kind, received_at: event.receivedAt,
          body: try JSON.decode(Wire.JSONValue.self, from: event.body))
      })
  }

  /// Safe to repeat.
  func erase(_ user: UserID, at now: Date, on db: any Connection) throws {
    if let stripeOutbox { try StripeCustomerDeletion.enqueue(user, in: stripeOutbox, at: now, on: db) }
    try StripeCustomerStore.erase(user, on: db)
    try PurchaseStore.erase(user, on: db)
    try SubscriptionStore.erase(user, on: db)
    try BillingEventStore.erase(user, on: db)
    try AppleOwnerStore.erase(user, on: db)
    try AppleConsentStore.erase(user, on: db)
  }
}
