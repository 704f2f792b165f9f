import Database
import Foundation
import Support
import Testing
import Wire

/// The products of the tests.
enum TestProduct {
  static let pack = "com.example.kith.credits100"
  static let explorer = "com.example.kith.explorer"
  static let creator = "com.example.kith.creator"

  static let file = """
    packs:
      - { id: \(pack), credits: 100, price: 99, currency: usd }
    subscriptions:
      - { id: \(explorer), credits: 200, price: 499, currency: usd, tier: explorer, level: 1, period: month }
      - { id: \(creator), credits: 1000, price: 1499, currency: usd, tier: creator, level: 2, period: month }
    """
}

/// Runs everything with an App Store and products.
func withApplePurchases(
  _ engine: Engine, _ overrides: [String: String] = [:],
  prepare: (TestDatabase, AppStore) async throws -> Void = { _, _ in },
  _ body: (TestStack, AppStore) async throws -> Void
) async throws {
  try await withAppStore { store in
    let products = store.rootFile + ".products.yaml"
    try Data(TestProduct.file.utf8).write(to: URL(filePath: products))
    let settings = store.settings.merging(["BILLING_PRODUCTS": products]) { $1 }.merging(overrides) { $1 }
    try await withStack(engine, settings, prepare: { try await prepare($0, store) }) { stack in
      try await body(stack, store)
    }
  }
}

extension SignedInUser {
  func verify(_ signedTransaction: String) async throws -> Browser.Reply {
    try await browser.post("/api/v1/billing/apple/verify", ["signed_transaction": signedTransaction])
  }

  func balance() async throws -> Int {
    try await browser.get("/api/v1/credits/balance").int("balance") ?? -1
  }

  /// The types of the user's movements, the oldest first.
  func movements() async throws -> [String] {
    try await browser.get("/api/v1/credits/history?limit=100").list.reversed().map { movement in
      "\(movement["type"] as? String ?? "") \((movement["amount"] as? NSNumber)?.intValue ?? 0)"
    }
  }
}

/// A subscription as it is stored.
struct SubscriptionRow: Hashable, Sendable {
  var product: String
  var status: String
  var endsAt: Date?
  var willRenew: Bool
}

extension TestStack {
  /// Posts a notification as the App Store does.
  @discardableResult
  func notify(_ signedPayload: String) async throws -> Int {
    try await gateway.post("/webhooks/apple", ["signedPayload": signedPayload]).status
  }

  /// Waits until all stored notifications have been worked on.
  func waitForBilling() async throws {
    try await eventually("work on the notifications", within: .seconds(240)) {
      try await count("billing_event where status = 'waiting'", in: "credits") == 0
    }
  }

  /// The reasons of the events with a status, in order of their arrival.
  func events(_ status: String) async throws -> [String] {
    try await rows("select reason from billing_event where status = \(status) order by id") {
      try $0.optional("reason") ?? ""
    }
  }

  func subscription(_ id: String) async throws -> SubscriptionRow? {
    try await rows(
      """
      select product_id, status, current_period_end, will_renew from billing_subscription
      where subscription_id = \(id)
      """
    ) { row in
      SubscriptionRow(
        product: try row.get("product_id"), status: try row.get("status"),
        endsAt: try row.optional("current_period_end"), willRenew: try row.get("will_renew"))
    }.first
  }

  func rows<T: Sendable>(_ sql: SQL, _ read: @escaping @Sendable (Row) throws -> T) async throws -> [T] {
    let database = try await testDatabase.open("credits", [])
    do {
      let found = try await database.read { try $0.rows(sql).map(read) }
      await database.close()
      return found
    } catch {
      await database.close()
      throw error
    }
  }
}

extension Date {
  /// As times are stored.
  var wholeMilliseconds: Date { Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000) }
}
