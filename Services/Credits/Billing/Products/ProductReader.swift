import Yams

/// Reads products from the nodes of a YAML document, and checks that ids and prices are unique.
struct ProductReader {
  private var ids: Set<String> = []
  private var stripePrices: Set<String> = []

  private static let packKeys: Set = ["id", "credits", "price", "currency", "stripe_price", "expires_after_days"]
  private static let planKeys: Set = ["tier", "level", "period"]

  mutating func products(_ root: Node) throws(ProductMistake) -> Products {
    let fields = try ProductFields(root, what: "the document", keys: ["packs", "subscriptions"])
    return Products(
      packs: try list(fields, "packs", isSubscription: false),
      subscriptions: try list(fields, "subscriptions", isSubscription: true))
  }

  private mutating func list(
    _ fields: ProductFields, _ key: String, isSubscription: Bool
  ) throws(ProductMistake) -> [Product] {
    guard let node = fields[key] else { return [] }
    guard let entries = node.sequence else { throw ProductMistake("\(key) must be a list", at: node) }
    var products: [Product] = []
    for entry in entries { products.append(try product(entry, isSubscription: isSubscription)) }
    return products
  }

  private mutating func product(_ node: Node, isSubscription: Bool) throws(ProductMistake) -> Product {
    let keys = isSubscription ? Self.packKeys.union(Self.planKeys) : Self.packKeys
    let fields = try ProductFields(node, what: isSubscription ? "a subscription" : "a pack", keys: keys)
    let currency = try fields.text("currency", lengthMax: 3)
    guard currency.utf8.count == 3, currency.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 })
    else { throw fields.mistake("currency must have three letters, as in usd", at: "currency") }
    return Product(
      id: try unique(fields, "id", \.ids),
      credits: try fields.number("credits", in: (isSubscription ? 0 : 1)...Self.creditsMax),
      price: try fields.number("price", in: 0...100_000_000), currency: currency.lowercased(),
      stripePrice: fields["stripe_price"] == nil ? nil : try unique(fields, "stripe_price", \.stripePrices),
      creditsExpireAfterDays: fields["expires_after_days"] == nil
        ? nil : try fields.number("expires_after_days", in: 1...3650),
      plan: isSubscription ? try plan(fields) : nil)
  }

  private func plan(_ fields: ProductFields) throws(ProductMistake) -> Product.Plan {
    guard let period = Product.Period(rawValue: try fields.text("period", lengthMax: 20)) else {
      let all = Product.Period.allCases.map(\.rawValue).joined(separator: ", ")
      throw fields.mistake("period must be one of \(all)", at: "period")
    }
    return Product.Plan(
      tier: try fields.text("tier", lengthMax: 50), level: try fields.number("level", in: 1...1000), period: period)
  }

  private mutating func unique(
    _ fields: ProductFields, _ key: String, _ known: WritableKeyPath<ProductReader, Set<String>>
  ) throws(ProductMistake) -> String {
    let text = try fields.text(key, lengthMax: 255)
    guard self[keyPath: known].insert(text).inserted else {
      throw fields.mistake("\(key) \(text) stands there twice", at: key)
    }
    return text
  }

  /// So that a large quantity stays far below the largest amount of an operation.
  private static let creditsMax = 10_000_000
}

/// The members of a mapping in the file.
private struct ProductFields {
  private let node: Node
  private let members: [String: Node]

  init(_ node: Node, what: String, keys: Set<String>) throws(ProductMistake) {
    guard let mapping = node.mapping else { throw ProductMistake("\(what) must be a mapping", at: node) }
    var members: [String: Node] = [:]
    for (key, value) in mapping {
      guard let name = key.string, keys.contains(name) else {
        throw ProductMistake("\(what) has no \(key.string ?? "such key")", at: key)
      }
      // A key without a value counts as missing.
      if value.null == nil { members[name] = value }
    }
    self.node = node
    self.members = members
  }

  subscript(key: String) -> Node? { members[key] }

  func text(_ key: String, lengthMax: Int) throws(ProductMistake) -> String {
    guard let value = members[key] else { throw ProductMistake("\(key) is missing", at: node) }
    guard let text = value.string, !text.isEmpty, text.utf8.count <= lengthMax else {
      throw ProductMistake("\(key) must be a text of 1 to \(lengthMax) characters", at: value)
    }
    return text
  }

  func number(_ key: String, in range: ClosedRange<Int>) throws(ProductMistake) -> Int {
    guard let value = members[key] else { throw ProductMistake("\(key) is missing", at: node) }
    guard let number = value.int, range.contains(number) else {
      throw ProductMistake("\(key) must be a whole number from \(range.lowerBound) to \(range.upperBound)", at: value)
    }
    return number
  }

  func mistake(_ text: String, at key: String) -> ProductMistake {
    ProductMistake(text, at: members[key] ?? node)
  }
}
