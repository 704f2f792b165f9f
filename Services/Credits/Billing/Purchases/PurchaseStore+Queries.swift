import Database
import Foundation
import Wire

/// Reads of purchases, and their erasure.
extension PurchaseStore {
  /// The purchases of a user, the last recorded first.
  ///
  /// - Parameter last: the last purchase of the previous page.
  func purchases(of user: UserID, limit: Int, before last: PurchaseID? = nil) async throws -> [PurchaseRecord] {
    try await database.read { db in
      try db.rows(
        """
        select id, provider, transaction_id, subscription_id, user_id, product_id, quantity, credits,
          credits_taken_back, amount, currency, environment, status, purchased_at, expires_at
        from billing_purchase where user_id = \(user) and id < \(last ?? Self.lastID)
        order by id desc limit \(limit)
        """
      ).map(PurchaseRecord.init)
    }
  }

  /// nil when it has not been recorded, or only by a refund.
  func purchase(_ provider: PurchaseProvider, _ transactionID: String) async throws -> PurchaseRecord? {
    try await database.readOnce { try Self.purchase(provider, transactionID, on: $0) }
  }

  static func purchase(
    _ provider: PurchaseProvider, _ transactionID: String, on db: any Connection
  ) throws -> PurchaseRecord? {
    try db.row(
      """
      select id, provider, transaction_id, subscription_id, user_id, product_id, quantity, credits,
        credits_taken_back, amount, currency, environment, status, purchased_at, expires_at
      from billing_purchase
      where provider = \(provider.rawValue) and transaction_id = \(transactionID) and status <> 'awaited'
      """
    ).map(PurchaseRecord.init)
  }

  /// Removes the user from the purchases. The rows stay, so that an event which is delivered again grants nothing.
  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("update billing_purchase set user_id = null where user_id = \(user)")
  }

  /// Greater than every id of a purchase.
  private static let lastID = PurchaseID(
    UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)))
}

extension PurchaseRecord {
  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    provider = try row.enumValue("provider")
    transactionID = try row.get("transaction_id")
    subscriptionID = try row.optional("subscription_id")
    user = try row.optional("user_id")
    productID = try row.get("product_id")
    quantity = try row.get("quantity")
    credits = try row.get("credits")
    creditsTakenBack = try row.get("credits_taken_back")
    amount = try row.optional("amount")
    currency = try row.optional("currency")
    environment = try row.get("environment")
    status = try row.enumValue("status")
    purchasedAt = try row.get("purchased_at")
    expiresAt = try row.optional("expires_at")
  }
}
