import Database
import Foundation
import Outbox
import Wire

/// The outbox message after a user's erasure: the customer at Stripe is deleted, which also cancels the subscriptions.
struct StripeCustomerDeletion: Codable, Sendable {
  static let kind = "stripe_customer_erased"

  let customer: String

  /// Adds the message, in the transaction that erases the user. It has no user: the erasure must not delete it.
  static func enqueue(_ user: UserID, in outbox: Outbox, at now: Date, on db: any Connection) throws {
    guard let customer = try StripeCustomerStore.customer(of: user, on: db) else { return }
    try outbox.add(
      kind, StripeCustomerDeletion(customer: customer), deduplicationKey: customer, at: now, on: db)
  }

  static func delivery(_ client: StripeClient) -> Delivery {
    Delivery(kind, timeout: .seconds(30), giveUpAfter: Delivery.month) { message in
      let customer = try message.decode(StripeCustomerDeletion.self).customer
      do {
        let _: StripeCustomer = try await client.delete(try StripeClient.path("customers", customer))
      } catch let error as StripeError where error.isMissing() {
        // An earlier try has deleted it.
      }
    }
  }
}
