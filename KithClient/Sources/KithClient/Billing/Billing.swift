import Foundation

/// What can be bought, and what was.
public struct Billing: Sendable {
  /// What is sold, as the server is configured.
  public typealias Products = BillingProducts
  /// The subscription of the user.
  public typealias Status = BillingStatus
  /// What was bought in the App Store or through Stripe.
  public typealias Purchase = BillingPurchase
  /// What a verified transaction has granted.
  public typealias Granted = GrantedPurchase

  let api: API

  /// Nobody needs to be signed in.
  public func products() async throws -> Products {
    try await api.value(Call.get("/api/v1/billing/products").anonymous)
  }

  /// The user's subscription.
  public func status() async throws -> Status { try await api.value(.get("/api/v1/billing/status")) }

  /// What the user has bought.
  public func purchases() async throws -> [Purchase] { try await api.value(.get("/api/v1/billing/purchases")) }

  /// A page of Stripe's on which the user pays. Open it in a browser.
  ///
  /// - Parameters:
  ///   - successURL: where the user goes on after paying. nil: a page of the server.
  ///   - cancelURL: the same for who does not pay.
  /// - Throws: ``KithFailure``, such as `unknown_product`, `already_subscribed` or `stripe_not_configured`.
  public func checkout(
    _ product: Products.Product.ID, successURL: URL? = nil, cancelURL: URL? = nil
  ) async throws -> URL {
    var body = ["product_id": product]
    body["success_url"] = successURL?.absoluteString
    body["cancel_url"] = cancelURL?.absoluteString
    let call = try Call.post("/api/v1/billing/stripe/checkout", body).with { $0.timeoutSeconds = 45 }
    return try Self.page(at: try await api.value(call, as: CheckoutAnswer.self).checkoutURL)
  }

  /// A page of Stripe's on which the user changes or ends a subscription.
  public func portal() async throws -> URL {
    let call = Call.get("/api/v1/billing/stripe/portal").with { $0.timeoutSeconds = 45 }
    return try Self.page(at: try await api.value(call, as: PortalAnswer.self).portalURL)
  }

  private static func page(at text: String) throws -> URL {
    guard let url = URL(string: text) else { throw KithFailure.undecodable("the address of a page: \(text)") }
    return url
  }

  /// Has a transaction of the App Store verified. Apps use ``StorePurchases``.
  ///
  /// - Parameter signedTransaction: `VerificationResult.jwsRepresentation`.
  public func verify(signedTransaction: String) async throws -> Granted {
    try await api.value(try .post("/api/v1/billing/apple/verify", ["signed_transaction": signedTransaction]))
  }

  /// Whether the server may tell Apple how much of a purchase was used when a refund is asked for.
  public func setConsent(_ isGiven: Bool) async throws {
    _ = try await api.send(try .put("/api/v1/billing/apple/consent", ["consented": isGiven]))
  }
}
