import Crypto
import Foundation
import Wire

/// Makes the pages of Stripe's on which users pay, and manage what they have bought.
struct StripeCheckout: Sendable {
  let client: StripeClient
  let customers: StripeCustomerStore
  let now: @Sendable () -> Date

  /// What is bought, and where the user goes afterwards.
  struct Order: Sendable {
    let user: UserID
    let product: Product
    /// The id of the price at Stripe.
    let price: String
    let successURL: String
    let cancelURL: String?
  }

  /// The URL of a new session. Under the same key it is the same one for 24 hours.
  ///
  /// - Throws: a failure of the kinds 502, 503 and 504.
  func checkout(_ order: Order, key: String) async throws -> String {
    try await withCustomer(of: order.user) { customer in
      let form = Self.form(of: order, customer)
      return try await client.post(
        "/v1/checkout/sessions", form, idempotencyKey: Self.key("checkout", key, customer), as: StripePage.self
      ).url
    }
  }

  /// The URL of a session of the billing portal, which can be used once.
  ///
  /// - Throws: a failure of the kinds 502, 503 and 504; 404 when the user has never begun to buy.
  func portal(of user: UserID, returnURL: String?) async throws -> String {
    guard let customer = try await customers.customer(of: user) else { throw Failure.noStripeCustomer }
    let form = [("customer", customer)] + (returnURL.map { [("return_url", $0)] } ?? [])
    do {
      return try await client.post(
        "/v1/billing_portal/sessions", form, idempotencyKey: Self.key("portal", UUID().uuidString, customer),
        as: StripePage.self
      ).url
    } catch let error as StripeError where error.isMissing("customer") {
      throw Failure.noStripeCustomer
    } catch let error as StripeError {
      throw error.failure
    }
  }

  /// Runs `work` with the user's customer. One that Stripe does not know any more, because it was deleted there, is
  /// replaced.
  private func withCustomer(of user: UserID, _ work: (String) async throws -> String) async throws -> String {
    do {
      let customer = try await customer(of: user, replacing: nil)
      do { return try await work(customer) } catch let error as StripeError where error.isMissing("customer") {
        try await customers.delete(customer, of: user)
        return try await work(try await self.customer(of: user, replacing: customer))
      }
    } catch let error as StripeError {
      client.logger.warning("no page of Stripe's", metadata: ["error": "\(error)"])
      throw error.failure
    }
  }

  /// The stored customer, or a new one. Concurrent calls make one at Stripe, by the idempotency key, and store one, by
  /// the unique index.
  private func customer(of user: UserID, replacing former: String?) async throws -> String {
    if let stored = try await customers.customer(of: user) { return stored }
    let made = try await client.post(
      "/v1/customers", [("metadata[\(StripeUsers.userKey)]", user.description)],
      idempotencyKey: Self.key("customer", user.description, former ?? ""), as: StripeCustomer.self)
    return try await customers.store(made.id, of: user, at: now())
  }

  /// Stripe copies no metadata from a session to the subscription or the payment: both have them.
  private static func form(of order: Order, _ customer: String) -> [(name: String, value: String)] {
    let isSubscription = order.product.plan != nil
    let metadata = [
      (StripeUsers.userKey, order.user.description), (StripeUsers.productKey, order.product.id),
    ]
    let inner = isSubscription ? "subscription_data" : "payment_intent_data"
    return [
      ("mode", isSubscription ? "subscription" : "payment"), ("customer", customer),
      ("client_reference_id", order.user.description), ("line_items[0][price]", order.price),
      ("line_items[0][quantity]", "1"), ("success_url", order.successURL),
    ] + (order.cancelURL.map { [("cancel_url", $0)] } ?? [])
      + metadata.map { ("metadata[\($0.0)]", $0.1) } + metadata.map { ("\(inner)[metadata][\($0.0)]", $0.1) }
  }

  /// An idempotency key of at most 255 characters.
  private static func key(_ parts: String...) -> String {
    let digest = SHA256.hash(data: Data(parts.joined(separator: "\n").utf8))
    return "kith-" + digest.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
  }
}

extension Failure {
  static let noStripeCustomer = Failure(
    .notFound, "no_stripe_customer", "You have not bought anything through Stripe yet.")
}
