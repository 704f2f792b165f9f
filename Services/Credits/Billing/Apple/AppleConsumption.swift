import Database
import Foundation
import Logging
import Wire

/// Answers the App Store when a customer asks it for a refund, if the customer has agreed to that.
struct AppleConsumption: Sendable {
  let store: PurchaseStore
  /// nil without a key for the App Store Server API; then nothing is answered.
  let client: AppStoreServerClient?
  let hasSignupCredits: Bool
  let logger: Logger
  let now: @Sendable () -> Date

  /// The App Store waits for twelve hours.
  private static let answerSecondsMax = 12 * 3600.0

  /// Answers once for a transaction: the App Store repeats its request as new notifications.
  ///
  /// - Throws: an error for a retry; ``ParkedEvent`` when the App Store does not take the answer.
  func answer(_ transaction: AppStoreTransaction, of user: UserID, requestedAt: Date) async throws {
    let now = now()
    guard requestedAt > now - Self.answerSecondsMax,
      let environment = AppStoreEnvironment(rawValue: transaction.environment)
    else { return }
    guard let client else {
      return logger.notice(
        "a question of the App Store about a refund is not answered: APPLE_IAP_PRIVATE_KEY is not set")
    }
    let isWanted = try await store.database.read { db in
      try AppleConsentStore.consent(of: user, on: db) == true && !AppleConsentStore.isAnswered(transaction.id, on: db)
    }
    guard isWanted, let purchase = try await store.purchase(.apple, transaction.id) else { return }
    let balance = try await store.accounts.balance(ofUnchecked: user)
    let consumption = Consumption(
      granted: purchase.credits, balance: balance.current, isSubscription: purchase.subscriptionID != nil,
      hasSample: hasSignupCredits)
    do {
      try await client.send(
        consumption, of: transaction.id, in: .init(bundleID: transaction.bundleID, environment: environment))
    } catch let error as AppStoreServerError where !error.isRetryable { throw ParkedEvent(error.description) }
    try await store.database.write { db in try AppleConsentStore.setAnswered(transaction.id, at: now, on: db) }
  }
}
