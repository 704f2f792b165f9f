import ClientBodies
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

  func add(to routes: HTTPRoutes) {
    let list = Response.json(BillingProducts(products))
    routes.get("/api/v1/billing/products") { _, _ in list }
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/api/v1/billing/status", use: status)
    userRoutes.get("/api/v1/billing/purchases", use: purchases)
  }

  @Sendable private func status(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    let current = StoredSubscription.current(of: try await subscriptions.subscriptions(of: context.user), at: now)
    return .json(BillingStatus(current, at: now))
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
    var response = Response.json(found.map(BillingPurchase.init))
    if found.count == limit, let last = found.last {
      response.headers[.link] = "</api/v1/billing/purchases?limit=\(limit)&cursor=\(last.id)>; rel=\"next\""
    }
    return response
  }
}

extension BillingProducts {
  fileprivate init(_ products: Products) {
    self.init(
      packs: products.packs.map { Product($0) },
      subscriptions: products.subscriptions.compactMap { product in product.plan.map { Product(product, $0) } })
  }
}

extension BillingProducts.Product {
  /// - Parameter plan: of a subscription.
  fileprivate init(_ product: Credits.Product, _ plan: Credits.Product.Plan? = nil) {
    self.init(
      id: product.id, credits: product.credits, price: product.price, currency: product.currency, tier: plan?.tier,
      level: plan?.level, period: plan?.period.rawValue)
  }
}

extension BillingStatus {
  /// The tier of users who have no subscription.
  private static let freeTier = "free"

  fileprivate init(_ subscription: StoredSubscription?, at now: Date) {
    let isEntitled = subscription?.isEntitled(at: now) ?? false
    let status = subscription?.status(at: now) ?? .none
    self.init(
      subscriptionTier: isEntitled ? subscription?.tier ?? Self.freeTier : Self.freeTier, status: status.rawValue,
      source: subscription?.provider.rawValue, currentPeriodEnd: subscription?.currentPeriodEnd,
      productID: subscription?.productID, willRenew: status != .expired && subscription?.willRenew ?? false)
  }
}
