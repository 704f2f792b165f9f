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
  private let apple: AppleBilling
  private let sweep: BillingEventSweep
  private let adminKey: String
  private let now: @Sendable () -> Date

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
    let apple = AppleBilling(settings, purchases: purchases, in: dependencies)
    self.products = settings.products
    self.purchases = purchases
    self.subscriptions = subscriptions
    self.stripe = stripe
    self.apple = apple
    var processors: [PurchaseProvider: any BillingEventProcessor] = [.stripe: stripe.processor]
    processors[.apple] = apple.processor
    self.inbox = BillingInbox(store: events, processors: processors, in: dependencies)
    self.sweep = BillingEventSweep(events, in: dependencies)
    self.personalData = BillingPersonalData(
      purchases: purchases, subscriptions: subscriptions, events: events,
      stripeOutbox: settings.stripe == nil ? nil : outbox)
    self.adminKey = adminKey
    self.now = dependencies.now
  }

  var background: [any Service] { [inbox, sweep] + apple.background(inbox) }

  func add(to routes: HTTPRoutes) {
    PurchaseRoutes(products: products, purchases: purchases, subscriptions: subscriptions, now: now).add(to: routes)
    BillingInboxRoutes(inbox: inbox, adminKey: adminKey).add(to: routes)
    stripe.add(to: routes, inbox)
    apple.add(to: routes, inbox)
  }
}
