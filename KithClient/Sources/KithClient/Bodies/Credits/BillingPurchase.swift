import Foundation

/// What was bought in the App Store or through Stripe.
public struct BillingPurchase: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  public let source: String
  /// At the source.
  public let transactionID: String?
  public let productID: String
  public let quantity: Int?
  public let credits: Int
  /// After a refund.
  public let creditsTakenBack: Int?
  /// In the smallest unit of the currency.
  @NullCodable public private(set) var amount: Int?
  @NullCodable public private(set) var currency: String?
  public let status: String
  public let purchasedAt: Date
  @NullCodable public private(set) var expiresAt: Date?

  private enum CodingKeys: String, CodingKey {
    case id, source, quantity, credits, amount, currency, status
    case transactionID = "transaction_id"
    case productID = "product_id"
    case creditsTakenBack = "credits_taken_back"
    case purchasedAt = "purchased_at"
    case expiresAt = "expires_at"
  }

  public init(
    id: String, source: String, transactionID: String?, productID: String, quantity: Int?, credits: Int,
    creditsTakenBack: Int?, amount: Int?, currency: String?, status: String, purchasedAt: Date, expiresAt: Date?
  ) {
    self.id = id
    self.source = source
    self.transactionID = transactionID
    self.productID = productID
    self.quantity = quantity
    self.credits = credits
    self.creditsTakenBack = creditsTakenBack
    self.amount = amount
    self.currency = currency
    self.status = status
    self.purchasedAt = purchasedAt
    self.expiresAt = expiresAt
  }
}

/// What a verified transaction has granted: the same however often it is sent.
public struct GrantedPurchase: Sendable, Equatable, Codable {
  public let transactionID: String
  public let productID: String
  public let creditsGranted: Int
  public let balance: Int

  private enum CodingKeys: String, CodingKey {
    case balance
    case transactionID = "transaction_id"
    case productID = "product_id"
    case creditsGranted = "credits_granted"
  }

  public init(transactionID: String, productID: String, creditsGranted: Int, balance: Int) {
    self.transactionID = transactionID
    self.productID = productID
    self.creditsGranted = creditsGranted
    self.balance = balance
  }
}

/// A page on which the user pays.
package struct CheckoutAnswer: Sendable, Codable {
  /// As Stripe writes it: `URL` replaces characters that it does not allow.
  package let checkoutURL: String

  private enum CodingKeys: String, CodingKey {
    case checkoutURL = "checkout_url"
  }

  package init(checkoutURL: String) {
    self.checkoutURL = checkoutURL
  }
}

/// A page on which the user changes a subscription.
package struct PortalAnswer: Sendable, Codable {
  /// As Stripe writes it.
  package let portalURL: String

  private enum CodingKeys: String, CodingKey {
    case portalURL = "portal_url"
  }

  package init(portalURL: String) {
    self.portalURL = portalURL
  }
}
