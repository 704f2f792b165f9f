import Foundation
import Wire

/// Records what users have paid at Stripe: packs by their payment intent, periods of a subscription by their invoice.
struct StripePayments: Sendable {
  let products: Products
  let purchases: PurchaseStore
  let subscriptions: StripeSubscriptions
  let users: StripeUsers
  let environment: String
  let now: @Sendable () -> Date

  private static let quantityMax = 1000

  /// A session that is not paid yet is waited for: its success is another event.
  func applyCompleted(_ session: StripeSession, at createdAt: Date) async throws -> UserID {
    let reference = session.client_reference_id.map { [StripeUsers.userKey: $0] }
    let user = try await users.user(session.metadata ?? reference, customer: session.customer)
    guard session.isPaid else { return user }
    guard let productID = session.metadata?[StripeUsers.productKey] else {
      throw ParkedEvent("its metadata has no product_id: the session was not made here")
    }
    guard let product = products[productID] else {
      throw ParkedEvent("unknown product \(productID): it is not in BILLING_PRODUCTS")
    }
    // Of a session that costs nothing there is no payment.
    try await grant(
      Purchase(
        provider: .stripe, transactionID: session.payment_intent?.id ?? session.id, user: user, productID: product.id,
        quantity: 1, credits: product.credits, type: .stripePurchase, amount: session.amount_total,
        currency: session.currency, environment: environment, purchasedAt: createdAt,
        creditsExpireAt: product.creditsExpire(afterPaymentAt: createdAt)))
    return user
  }

  func applyPaid(_ invoice: StripeInvoice, at createdAt: Date) async throws -> UserID {
    guard let subscriptionID = invoice.subscriptionID else { throw IgnoredEvent("an invoice without a subscription") }
    let user = try await user(of: invoice, subscriptionID, at: createdAt)
    if let (line, product) = try await paidLine(of: invoice) {
      try await grant(purchase(invoice, line, product, of: user, subscriptionID, at: createdAt))
    }
    // The invoice says nothing of the subscription's status.
    try await subscriptions.refresh(subscriptionID, at: createdAt)
    return user
  }

  private func user(of invoice: StripeInvoice, _ subscriptionID: String, at createdAt: Date) async throws -> UserID {
    if let stored = try await subscriptions.store.subscription(.stripe, subscriptionID) {
      guard let user = stored.user else { throw IgnoredEvent("its user has been erased") }
      return user
    }
    do { return try await users.user(invoice.subscriptionMetadata, customer: invoice.customer) } catch is ParkedEvent {
      guard let user = try await subscriptions.refresh(subscriptionID, at: createdAt)?.user else {
        throw ParkedEvent("no user: neither the invoice nor its subscription names one")
      }
      return user
    }
  }

  /// The line of the subscription's product, of which credits are granted. nil for a change of the subscription that is
  /// no upgrade, and for an invoice of something else.
  ///
  /// - Throws: ``ParkedEvent`` when the price is not in the file of products.
  private func paidLine(of invoice: StripeInvoice) async throws -> (StripeInvoiceLine, Product)? {
    let lines = try await subscriptions.lines(of: invoice)
    let known = lines.compactMap { line in
      line.priceID.flatMap(products.product(stripePrice:)).map { (line: line, product: $0) }
    }
    // A change of the plan credits the rest of the old one, with a negative amount.
    let charged = known.filter { $0.line.amount >= 0 }.max { rank($0) < rank($1) }
    switch invoice.billing_reason {
    case "subscription_update":
      guard let charged else { break }
      let left = known.filter { $0.line.amount < 0 }.compactMap { $0.product.plan?.level }.max() ?? 0
      let isUpgrade = invoice.amount_paid > 0 && (charged.product.plan?.level ?? 0) > left
      return isUpgrade ? (charged.line, charged.product) : nil
    case "subscription_create", "subscription_cycle", "subscription": break
    default: return nil
    }
    guard let charged else {
      let prices = lines.compactMap(\.priceID).joined(separator: ", ")
      throw ParkedEvent("unknown price \(prices): it is not in BILLING_PRODUCTS")
    }
    return (charged.line, charged.product)
  }

  /// A renewal may have prorated lines of earlier changes beside the line of the period.
  private func rank(_ entry: (line: StripeInvoiceLine, product: Product)) -> (Int, Int, Int) {
    (entry.line.isProration ? 0 : 1, entry.line.period.end, entry.product.plan?.level ?? 0)
  }

  private func purchase(
    _ invoice: StripeInvoice, _ line: StripeInvoiceLine, _ product: Product, of user: UserID, _ subscriptionID: String,
    at createdAt: Date
  ) throws -> Purchase {
    let quantity = line.quantity ?? 1
    guard (1...Self.quantityMax).contains(quantity), product.credits * quantity <= CreditOperation.amountMax else {
      throw ParkedEvent("a quantity of \(quantity)")
    }
    let paidAt = invoice.status_transitions?.paid_at.map { Date(timeIntervalSince1970: Double($0)) } ?? createdAt
    return Purchase(
      provider: .stripe, transactionID: invoice.id, subscriptionID: subscriptionID, user: user, productID: product.id,
      quantity: quantity, credits: product.credits * quantity, type: .subscriptionGrant, amount: invoice.amount_paid,
      currency: invoice.currency, environment: environment, purchasedAt: paidAt, expiresAt: line.periodEnd,
      creditsExpireAt: product.creditsExpire(afterPaymentAt: paidAt))
  }

  private func grant(_ purchase: Purchase) async throws {
    _ = try await users.parkingUnknown { try await purchases.grant(purchase, at: now()) }
  }
}
