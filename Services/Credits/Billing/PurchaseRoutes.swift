import Foundation
import HTTPTypes
import Hummingbird
import Web
import Wire

/// What can be bought, and what the signed-in user has bought, wherever it was paid.
struct PurchaseRoutes: Sendable {
  let products: Products
  let purchases: PurchaseStore
  let subscriptions: SubscriptionStore
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let list = Response.json(ProductsBody(products))
    routes.get("/api/v1/billing/products") { _, _ in list }
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/api/v1/billing/status", use: status)
    userRoutes.get("/api/v1/billing/purchases", use: purchases)
  }

  @Sendable private func status(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    let current = StoredSubscription.current(of: try await subscriptions.subscriptions(of: context.user), at: now)
    return .json(StatusBody(current, at: now))
  }

  @Sendable private func purchases(_ request: Request, _ context: SignedIn) async throws -> Response {
    let limit = try request.queryNumber("limit", default: 20, in: 1...100)
    let last = try request.uri.queryParameters["cursor"].map { text in
      guard let id = PurchaseID(String(text)) else {
        throw Failure.invalid(.init("cursor", "is not a cursor of this list; leave it out to start anew"))
      }
      return id
    }
    let found = try await purchases.purchases(of: context.user, limit: limit, before: last)
    var response = Response.json(found.map(PurchaseBody.init))
    if found.count == limit, let last = found.last {
      response.headers[.link] = "</api/v1/billing/purchases?limit=\(limit)&cursor=\(last.id)>; rel=\"next\""
    }
    return response
  }
}

private struct ProductsBody: Encodable {
  struct Pack: Encodable {
    let id: String
    let credits: Int
    let price: Int
    let currency: String
  }

  struct Plan: Encodable {
    let id: String
    let credits: Int
    let price: Int
    let currency: String
    let tier: String
    let level: Int
    let period: Product.Period
  }

  let packs: [Pack]
  let subscriptions: [Plan]

  init(_ products: Products) {
    packs = products.packs.map { Pack(id: $0.id, credits: $0.credits, price: $0.price, currency: $0.currency) }
    subscriptions = products.subscriptions.compactMap { product in
      product.plan.map { plan in
        Plan(
          id: product.id, credits: product.credits, price: product.price, currency: product.currency, tier: plan.tier,
          level: plan.level, period: plan.period)
      }
    }
  }
}

private struct StatusBody: Encodable {
  let subscription_tier: String
  let status: Subscription.Status
  @NullCodable var source: PurchaseProvider?
  @NullCodable var current_period_end: Date?
  @NullCodable var product_id: String?
  let will_renew: Bool

  /// The tier of users who have no subscription.
  private static let freeTier = "free"

  init(_ subscription: StoredSubscription?, at now: Date) {
    let isEntitled = subscription?.isEntitled(at: now) ?? false
    subscription_tier = isEntitled ? subscription?.tier ?? Self.freeTier : Self.freeTier
    status = subscription?.status(at: now) ?? .none
    _source = NullCodable(wrappedValue: subscription?.provider)
    _current_period_end = NullCodable(wrappedValue: subscription?.currentPeriodEnd)
    _product_id = NullCodable(wrappedValue: subscription?.productID)
    will_renew = status != .expired && subscription?.willRenew ?? false
  }
}

/// A purchase of the user, also in the user's export.
struct PurchaseBody: Encodable, Sendable {
  let id: PurchaseID
  let source: PurchaseProvider
  let transaction_id: String
  let product_id: String
  let quantity: Int
  let credits: Int
  let credits_taken_back: Int
  @NullCodable var amount: Int?
  @NullCodable var currency: String?
  let status: PurchaseRecord.Status
  let purchased_at: Date
  @NullCodable var expires_at: Date?

  init(_ purchase: PurchaseRecord) {
    id = purchase.id
    source = purchase.provider
    transaction_id = purchase.transactionID
    product_id = purchase.productID
    quantity = purchase.quantity
    credits = purchase.credits
    credits_taken_back = purchase.creditsTakenBack
    _amount = NullCodable(wrappedValue: purchase.amount)
    _currency = NullCodable(wrappedValue: purchase.currency)
    status = purchase.status
    purchased_at = purchase.purchasedAt
    _expires_at = NullCodable(wrappedValue: purchase.expiresAt)
  }
}
