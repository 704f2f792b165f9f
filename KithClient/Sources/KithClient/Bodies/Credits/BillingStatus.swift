import Foundation

/// The subscription of the user.
public struct BillingStatus: Sendable, Equatable, Codable {
  /// `free` without a subscription.
  public let subscriptionTier: String
  /// `none`, `active`, `past_due`, `canceled` or `expired`.
  public let status: String
  /// `apple` or `stripe`.
  @NullCodable public private(set) var source: String?
  @NullCodable public private(set) var currentPeriodEnd: Date?
  @NullCodable public private(set) var productID: String?
  public let willRenew: Bool?

  private enum CodingKeys: String, CodingKey {
    case status, source
    case subscriptionTier = "subscription_tier"
    case currentPeriodEnd = "current_period_end"
    case productID = "product_id"
    case willRenew = "will_renew"
  }

  public init(
    subscriptionTier: String, status: String, source: String?, currentPeriodEnd: Date?, productID: String?,
    willRenew: Bool?
  ) {
    self.subscriptionTier = subscriptionTier
    self.status = status
    self.source = source
    self.currentPeriodEnd = currentPeriodEnd
    self.productID = productID
    self.willRenew = willRenew
  }
}
