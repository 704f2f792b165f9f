import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// The routes by which users pay at Stripe.
struct StripeRoutes: Sendable {
  /// nil when Stripe is not configured.
  let checkout: StripeCheckout?
  let products: Products
  let subscriptions: SubscriptionStore
  let redirects: CheckoutRedirects
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.post("/api/v1/billing/stripe/checkout", use: begin)
    userRoutes.get("/api/v1/billing/stripe/portal", use: portal)
  }

  @Sendable private func begin(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let checkout else { throw Failure.stripeNotConfigured }
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let order = try order(try await request.json(CheckoutBody.self), of: context.user)
    let key = call.map { "\(context.user) \($0.key)" } ?? UUID().uuidString
    return try await idempotency.claimed(call) {
      try await requireNoSubscription(beside: order)
      return try await checkout.checkout(order, key: key)
    } effect: { url, _ in
      try .json(CheckoutAnswer(checkoutURL: url))
    }.response
  }

  @Sendable private func portal(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let checkout else { throw Failure.stripeNotConfigured }
    let url = try await checkout.portal(of: context.user, returnURL: redirects.fallback)
    return .json(PortalAnswer(portalURL: url))
  }

  private func order(_ body: CheckoutBody, of user: UserID) throws -> StripeCheckout.Order {
    let (sold, successURL, cancelURL) = try FieldErrors.collected(
      { try self.sold(body.product_id) }, { try self.successURL(body.success_url) },
      { try self.cancelURL(body.cancel_url) })
    return StripeCheckout.Order(
      user: user, product: sold.product, price: sold.price, successURL: successURL, cancelURL: cancelURL)
  }

  private func sold(_ id: String) throws(Failure) -> (product: Product, price: String) {
    guard let product = products[id], let price = product.stripePrice else {
      throw .invalid(.init("product_id", "must be a product that is sold through Stripe"))
    }
    return (product, price)
  }

  private func successURL(_ text: String?) throws(Failure) -> String {
    if let text { return try redirects.checked(text, field: "success_url") }
    guard let fallback = redirects.fallback else { throw .invalid(.init("success_url", "is required")) }
    return fallback
  }

  private func cancelURL(_ text: String?) throws(Failure) -> String? {
    guard let text else { return redirects.fallback }
    return try redirects.checked(text, field: "cancel_url")
  }

  /// A second subscription would be paid beside the first: plans are changed where the first was bought.
  private func requireNoSubscription(beside order: StripeCheckout.Order) async throws {
    guard order.product.plan != nil else { return }
    let now = now()
    let subscriptions = try await subscriptions.subscriptions(of: order.user)
    guard !subscriptions.contains(where: { $0.isEntitled(at: now) }) else { throw Failure.alreadySubscribed }
  }
}

private struct CheckoutBody: Decodable {
  let product_id: String
  let success_url: String?
  let cancel_url: String?
}

extension Failure {
  static let alreadySubscribed = Failure(
    .conflict, "already_subscribed", "You have a subscription. Change it where you have bought it.")
}
