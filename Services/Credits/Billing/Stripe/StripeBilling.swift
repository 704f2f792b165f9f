import Foundation
import Hummingbird
import Web

/// Purchases through Stripe: what is configured of it, put together.
struct StripeBilling: Sendable {
  let processor: StripeEventProcessor
  private let account: StripeAccount?
  private let routes: StripeRoutes
  private let now: @Sendable () -> Date

  init(
    _ settings: BillingSettings, purchases: PurchaseStore, subscriptions: SubscriptionStore, idempotency: Idempotency,
    in dependencies: Dependencies
  ) {
    let (client, account, now) = (settings.stripe, settings.stripe?.account, dependencies.now)
    let customers = StripeCustomerStore(database: purchases.database)
    let users = StripeUsers(customers: customers)
    let environment = account?.environment ?? ""
    let stripeSubscriptions = StripeSubscriptions(
      client: client, products: settings.products, store: subscriptions, users: users, environment: environment)
    let payments = StripePayments(
      products: settings.products, purchases: purchases, subscriptions: stripeSubscriptions, users: users,
      environment: environment, now: now)
    self.processor = StripeEventProcessor(
      account: account, payments: payments, subscriptions: stripeSubscriptions,
      refunds: StripeRefunds(client: client, purchases: purchases, now: now))
    self.routes = StripeRoutes(
      checkout: client.map { StripeCheckout(client: $0, customers: customers, now: now) }, products: settings.products,
      subscriptions: subscriptions, redirects: settings.redirects, idempotency: idempotency, now: now)
    self.account = account
    self.now = now
  }

  func add(to router: HTTPRoutes, _ inbox: BillingInbox) {
    routes.add(to: router)
    StripeWebhookRoutes(account: account, inbox: inbox, now: now).add(to: router)
  }
}
