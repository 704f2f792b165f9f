import Foundation
import Wire

/// A paid transaction of a user: a pack of credits, or one period of a subscription.
struct Purchase: Sendable, Hashable {
  let provider: PurchaseProvider
  /// The provider's id of the payment. Credits are granted once for it.
  let transactionID: String
  /// The provider's id of the subscription; nil for a pack.
  var subscriptionID: String?
  let user: UserID
  let productID: String
  let quantity: Int
  /// The credits of the whole quantity; 0 for a subscription without credits.
  let credits: Int
  /// The type of the grant in the ledger.
  let type: OperationType
  /// What was paid, in the smallest unit of the currency.
  var amount: Int?
  /// In lower case.
  var currency: String?
  let environment: String
  let purchasedAt: Date
  /// The end of the period that was paid.
  var expiresAt: Date?
  /// When the credits expire; nil for credits that do not.
  var creditsExpireAt: Date?
}

/// The share of a purchase's payment that its buyer has back by one refund or dispute, as of a time of the provider.
///
/// Later states of the same refund replace earlier ones, in whatever order they are applied. The shares of all refunds
/// of a purchase add up, to at most the whole.
struct PurchaseRefund: Sendable, Hashable {
  let provider: PurchaseProvider
  let transactionID: String
  /// The refund or dispute. Refunds of which the provider reports only the sum have one id.
  let id: String
  /// The part of `total`, from 0 for a refund that was reversed.
  let amount: Int
  let total: Int
  /// A final state, such as a lost dispute, is replaced by later final states only.
  var isFinal = false
  let stateAt: Date

  /// - Parameters:
  ///   - amount: is limited to `total`.
  ///   - total: nil is returned when it is not positive: of nothing no share can be refunded.
  init?(
    _ provider: PurchaseProvider, transactionID: String, id: String, amount: Int, of total: Int, isFinal: Bool = false,
    stateAt: Date
  ) {
    guard total > 0 else { return nil }
    self.provider = provider
    self.transactionID = transactionID
    self.id = id
    self.amount = min(max(amount, 0), total)
    self.total = total
    self.isFinal = isFinal
    self.stateAt = stateAt
  }

  /// The credits that the refund takes of `credits`, rounded up.
  static func share(of credits: Int, _ amount: Int, of total: Int) -> Int {
    let product = credits.multipliedFullWidth(by: amount)
    let (quotient, remainder) = total.dividingFullWidth(product)
    return quotient + (remainder > 0 ? 1 : 0)
  }
}

/// A purchase as it is stored.
struct PurchaseRecord: Sendable, Hashable {
  /// The status shown to users.
  enum Status: String, Sendable, Codable {
    case paid, refunded
    case partiallyRefunded = "partially_refunded"
  }

  let id: PurchaseID
  let provider: PurchaseProvider
  let transactionID: String
  let subscriptionID: String?
  /// nil after the user's erasure.
  let user: UserID?
  let productID: String
  let quantity: Int
  let credits: Int
  let creditsTakenBack: Int
  let amount: Int?
  let currency: String?
  let environment: String
  let status: Status
  let purchasedAt: Date
  let expiresAt: Date?
}

/// The subject of a stored purchase's id.
enum StoredPurchase {}
typealias PurchaseID = ID<StoredPurchase>
