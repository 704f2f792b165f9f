import Foundation
import Wire

/// Finds the user whom an object of Stripe's is about: by the metadata that the checkout has set, else by the customer.
struct StripeUsers: Sendable {
  let customers: StripeCustomerStore

  /// The keys of the metadata.
  static let userKey = "user_id"
  static let productKey = "product_id"

  /// - Throws: ``ParkedEvent`` when there is no user.
  func user(_ metadata: [String: String]?, customer: StripeReference?) async throws -> UserID {
    if let text = metadata?[Self.userKey] {
      guard let user = UserID(text) else { throw ParkedEvent("its metadata has a user_id that is no UUID") }
      return user
    }
    if let customer, let user = try await customers.user(of: customer.id) { return user }
    throw ParkedEvent("no user: it has no metadata user_id, and its customer was not made here")
  }

  /// Turns the failure for a user who does not exist into a reason to park the event.
  func parkingUnknown<T>(_ work: () async throws -> T) async throws -> T {
    do { return try await work() } catch let failure as Failure where failure.kind == .notFound {
      throw ParkedEvent("its user does not exist")
    }
  }
}
