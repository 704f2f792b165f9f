import Foundation

/// What users can buy: a pack of credits, or a subscription.
struct Product: Sendable, Hashable {
  /// What a subscription has in addition to a pack.
  struct Plan: Sendable, Hashable {
    /// The name of what the subscriber is: `explorer`.
    let tier: String
    /// Orders the tiers: an upgrade has a higher level.
    let level: Int
    let period: Period
  }

  /// The time after which a subscription renews.
  enum Period: String, Sendable, Codable, CaseIterable {
    case week, month, quarter, year
    case halfYear = "half_year"
  }

  /// Also the product's id in the App Store.
  let id: String
  /// Granted for each payment; 0 is possible for a subscription.
  let credits: Int
  /// In the smallest unit of the currency.
  let price: Int
  /// The ISO 4217 code in lower case.
  let currency: String
  /// The id of the price at Stripe; nil for what is not sold there.
  let stripePrice: String?
  /// After how many days the credits of a payment expire; nil for credits that do not.
  let creditsExpireAfterDays: Int?
  /// nil for a pack.
  let plan: Plan?

  /// When credits that are granted for a payment at `date` expire.
  func creditsExpire(afterPaymentAt date: Date) -> Date? {
    creditsExpireAfterDays.map { date + Double($0) * 86_400 }
  }
}
