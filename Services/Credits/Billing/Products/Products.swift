/// The products of the file that `BILLING_PRODUCTS` names.
struct Products: Sendable, Hashable {
  let packs: [Product]
  let subscriptions: [Product]

  static let none = Products(packs: [], subscriptions: [])

  init(packs: [Product], subscriptions: [Product]) {
    self.packs = packs
    self.subscriptions = subscriptions
    byID = Dictionary((packs + subscriptions).map { ($0.id, $0) }) { first, _ in first }
    byStripePrice = Dictionary(
      (packs + subscriptions).compactMap { product in product.stripePrice.map { ($0, product) } }
    ) { first, _ in first }
  }

  private let byID: [String: Product]
  private let byStripePrice: [String: Product]

  subscript(id: String) -> Product? { byID[id] }

  func product(stripePrice: String) -> Product? { byStripePrice[stripePrice] }
}
