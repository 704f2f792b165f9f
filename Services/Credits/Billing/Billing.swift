import Database
import Foundation
import Hummingbird
import Outbox
import ServiceLifecycle
import Tokens
import Web
import Wire

/// Purchases and subscriptions: the products, the stores, the inbox of the providers' events and the routes.
struct Billing: Sendable {
  let products: Products
  let purchases: PurchaseStore
  let subscriptions: SubscriptionStore
  let inbox: BillingInbox
  let personalData: BillingPersonalData
  private let stripe: StripeBilling
  private let sweep: BillingEventSweep
  private let adminKey: String

  init(
    _ settings: BillingSettings, accounts: CreditAccounts, keys: DataKeys, outbox: Outbox, idempotency: Idempotency,
    adminKey: String, in dependencies: Dependencies
  ) {
    let database = accounts.store.database
    let purchases = PurchaseStore(database: database, accounts: accounts)
    let subscriptions = SubscriptionStore(database: database)
    let events = BillingEventStore(database: database, keys: keys)
    let stripe = StripeBilling(
      settings, purchases: purchases, subscriptions: subscriptions, idempotency: idempotency, in: dependencies)
    self.products = settings.products
    self.purchases = purchases
    self.subscriptions = subscriptions
    self.stripe = stripe
    self.inbox = BillingInbox(store: events, processors: [.stripe: stripe.processor], in: dependencies)
    self.sweep = BillingEventSweep(events, in: dependencies)
    self.personalData = BillingPersonalData(
      purchases: purchases, subscriptions: subscriptions, events: events,
      stripeOutbox: settings.stripe == nil ? nil : outbox)
    self.adminKey = adminKey
  }

  var background: [any Service] { [inbox, sweep] }

  func add(to routes: Router<Context>) {
    PurchaseRoutes(products: products, purchases: purchases, subscriptions: subscriptions).add(to: routes)
    BillingInboxRoutes(inbox: inbox, adminKey: adminKey).add(to: routes)
    stripe.add(to: routes, inbox)
  }
}
