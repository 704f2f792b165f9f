import Foundation
import Wire

/// The environment of the App Store in which something was bought. Xcode's and a local test's transactions are not
/// signed by the App Store, and have no case here: they are never accepted.
enum AppStoreEnvironment: String, Sendable, Hashable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"
}

/// A transaction as the App Store has signed it (`JWSTransactionDecodedPayload`). The App Store signs it again when
/// something about it changes; of two with the same id the one that was signed later is true.
struct AppStoreTransaction: AppStorePayload, Encodable, Hashable {
  let id: String
  /// The id of the first purchase of a subscription, which its renewals share; else the same as `id`.
  let originalID: String
  let bundleID: String
  /// As in the payload: one that this version does not know is not accepted, but still well-formed.
  let environment: String
  let productID: String
  let quantity: Int
  let purchasedAt: Date
  /// The end of the period, of subscriptions only.
  let expiresAt: Date?
  /// The account for which the app has bought, nil when the app has set no UUID.
  let account: UserID?
  /// What was paid, in thousandths of a unit of the currency.
  let price: Int?
  /// The ISO 4217 code.
  let currency: String?
  /// The share that the App Store has taken back, by a refund or because the purchase is not shared with this person any
  /// more; in thousandths of a percent. nil when it has taken back nothing.
  let revokedShare: Int?
  let signedAt: Date

  static let wholeShare = 100_000

  private enum Key: String, CodingKey {
    case transactionId, originalTransactionId, bundleId, environment, productId, quantity, purchaseDate, expiresDate
    case appAccountToken, price, currency, revocationDate, revocationType, revocationPercentage, signedDate
  }

  init(from decoder: any Decoder) throws {
    let payload = try decoder.container(keyedBy: Key.self)
    func text(_ key: Key) throws -> String {
      let text = try payload.decode(String.self, forKey: key)
      guard (1...255).contains(text.utf8.count), !text.utf8.contains(0) else {
        throw DecodingError.dataCorruptedError(forKey: key, in: payload, debugDescription: "must have 1 to 255 bytes")
      }
      return text
    }
    id = try text(.transactionId)
    originalID = try text(.originalTransactionId)
    bundleID = try text(.bundleId)
    environment = try text(.environment)
    productID = try text(.productId)
    quantity = max(1, try payload.decodeIfPresent(Int.self, forKey: .quantity) ?? 1)
    purchasedAt = try payload.decode(Milliseconds.self, forKey: .purchaseDate).date
    expiresAt = try payload.decodeIfPresent(Milliseconds.self, forKey: .expiresDate)?.date
    account = try payload.decodeIfPresent(String.self, forKey: .appAccountToken).flatMap { UserID($0) }
    price = try payload.decodeIfPresent(Int.self, forKey: .price)
    currency = try payload.decodeIfPresent(String.self, forKey: .currency).flatMap { $0.utf8.count == 3 ? $0 : nil }
    revokedShare =
      try payload.decodeIfPresent(Milliseconds.self, forKey: .revocationDate) == nil
      ? nil
      : Self.revokedShare(
        type: try payload.decodeIfPresent(String.self, forKey: .revocationType),
        percentage: try payload.decodeIfPresent(Int.self, forKey: .revocationPercentage))
    signedAt = try payload.decode(Milliseconds.self, forKey: .signedDate).date
  }

  /// As in the payload, for ``init(from:)``.
  func encode(to encoder: any Encoder) throws {
    var payload = encoder.container(keyedBy: Key.self)
    try payload.encode(id, forKey: .transactionId)
    try payload.encode(originalID, forKey: .originalTransactionId)
    try payload.encode(bundleID, forKey: .bundleId)
    try payload.encode(environment, forKey: .environment)
    try payload.encode(productID, forKey: .productId)
    try payload.encode(quantity, forKey: .quantity)
    try payload.encode(purchasedAt.milliseconds, forKey: .purchaseDate)
    try payload.encodeIfPresent(expiresAt?.milliseconds, forKey: .expiresDate)
    try payload.encodeIfPresent(account?.description, forKey: .appAccountToken)
    try payload.encodeIfPresent(price, forKey: .price)
    try payload.encodeIfPresent(currency, forKey: .currency)
    if let revokedShare {
      try payload.encode(signedAt.milliseconds, forKey: .revocationDate)
      try payload.encode(revokedShare, forKey: .revocationPercentage)
    }
    try payload.encode(signedAt.milliseconds, forKey: .signedDate)
  }

  /// A refund of the whole price, and one that says nothing about its share, takes everything.
  private static func revokedShare(type: String?, percentage: Int?) -> Int {
    guard type == nil || type == "REFUND_PRORATED", let percentage else { return wholeShare }
    return min(max(percentage, 0), wholeShare)
  }
}

/// What the App Store says about the renewal of a subscription (`JWSRenewalInfoDecodedPayload`).
struct AppStoreRenewal: AppStorePayload, Hashable {
  let originalID: String
  let environment: String
  let willRenew: Bool
  /// The product of the next period.
  let nextProductID: String?
  let isInBillingRetry: Bool
  let graceEndsAt: Date?
  let signedAt: Date

  private enum Key: String, CodingKey {
    case originalTransactionId, environment, autoRenewStatus, autoRenewProductId, isInBillingRetryPeriod
    case gracePeriodExpiresDate, signedDate
  }

  init(from decoder: any Decoder) throws {
    let payload = try decoder.container(keyedBy: Key.self)
    originalID = try payload.decode(String.self, forKey: .originalTransactionId)
    environment = try payload.decode(String.self, forKey: .environment)
    willRenew = try payload.decodeIfPresent(Int.self, forKey: .autoRenewStatus) == 1
    nextProductID = try payload.decodeIfPresent(String.self, forKey: .autoRenewProductId)
    isInBillingRetry = try payload.decodeIfPresent(Bool.self, forKey: .isInBillingRetryPeriod) ?? false
    graceEndsAt = try payload.decodeIfPresent(Milliseconds.self, forKey: .gracePeriodExpiresDate)?.date
    signedAt = try payload.decode(Milliseconds.self, forKey: .signedDate).date
  }
}
