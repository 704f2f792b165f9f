/// How much of a purchase has been used, for the App Store's decision about a refund (`ConsumptionRequest`).
struct Consumption: Encodable, Sendable, Hashable {
  enum DeliveryStatus: String, Encodable, Sendable {
    case delivered = "DELIVERED"
    case undeliveredOther = "UNDELIVERED_OTHER"
  }

  let customerConsented = true
  let deliveryStatus: DeliveryStatus
  /// Whether the customer could try before the purchase: new users get credits.
  let sampleContentProvided: Bool
  /// In thousandths of a percent; nil for subscriptions, about which the App Store does not ask for it.
  let consumptionPercentage: Int?

  private enum CodingKeys: String, CodingKey {
    case customerConsented, deliveryStatus, sampleContentProvided, consumptionPercentage
  }

  /// - Parameters:
  ///   - granted: the credits of the purchase; 0 when none were granted.
  ///   - balance: the customer's credits now. Those that are left count as not used, as far as the purchase goes.
  init(granted: Int, balance: Int, isSubscription: Bool, hasSample: Bool) {
    deliveryStatus = granted > 0 ? .delivered : .undeliveredOther
    sampleContentProvided = hasSample
    guard granted > 0, !isSubscription else {
      consumptionPercentage = nil
      return
    }
    let used = granted - min(granted, max(balance, 0))
    consumptionPercentage = used * 100_000 / granted
  }
}
