/// What is sold, as the server is configured.
public struct BillingProducts: Sendable, Equatable, Codable {
  /// Credits, once or for each period of a subscription.
  public struct Product: Sendable, Equatable, Codable, Identifiable {
    /// Also the id in the App Store.
    public let id: String
    public let credits: Int
    /// In the smallest unit of the currency. In the app, show the App Store's price.
    public let price: Int
    public let currency: String
    /// Of a subscription, as the next two.
    public let tier: String?
    public let level: Int?
    public let period: String?

    public init(
      id: String, credits: Int, price: Int, currency: String, tier: String? = nil, level: Int? = nil,
      period: String? = nil
    ) {
      self.id = id
      self.credits = credits
      self.price = price
      self.currency = currency
      self.tier = tier
      self.level = level
      self.period = period
    }
  }

  /// Bought once each.
  public let packs: [Product]
  public let subscriptions: [Product]

  public init(packs: [Product], subscriptions: [Product]) {
    self.packs = packs
    self.subscriptions = subscriptions
  }
}
