import Database
import Foundation
import Wire

/// Every statement on the customers at Stripe, of whom each user has at most one.
struct StripeCustomerStore: Sendable {
  let database: any Database

  private static let provider = PurchaseProvider.stripe.rawValue

  /// The id of the user's customer; nil when the user has none.
  func customer(of user: UserID) async throws -> String? {
    try await database.readOnce { try Self.customer(of: user, on: $0) }
  }

  static func customer(of user: UserID, on db: any Connection) throws -> String? {
    try db.row(
      "select customer_id from billing_customer where provider = \(provider) and user_id = \(user)"
    )?.get("customer_id")
  }

  func user(of customer: String) async throws -> UserID? {
    try await database.readOnce { db in
      try db.row(
        "select user_id from billing_customer where provider = \(Self.provider) and customer_id = \(customer)"
      )?.get("user_id")
    }
  }

  /// Stores the customer unless the user has one. Returns the one that is stored.
  func store(_ customer: String, of user: UserID, at now: Date) async throws -> String {
    try await database.write { db in
      try db.change(
        """
        insert into billing_customer (provider, user_id, customer_id, created_at)
        values (\(Self.provider), \(user), \(customer), \(now)) on conflict do nothing
        """)
      return try Self.customer(of: user, on: db) ?? customer
    }
  }

  /// Deletes a customer whom Stripe does not know any more.
  func delete(_ customer: String, of user: UserID) async throws {
    try await database.write { db in
      try db.change(
        """
        delete from billing_customer
        where provider = \(Self.provider) and user_id = \(user) and customer_id = \(customer)
        """)
    }
  }

  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from billing_customer where provider = \(provider) and user_id = \(user)")
  }
}
