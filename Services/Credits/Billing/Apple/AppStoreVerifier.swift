import Foundation

/// Verifies what the App Store signs for our apps: transactions, renewals and notifications.
struct AppStoreVerifier: Sendable {
  let certificates: CertificateChainVerifier
  let apps: AppStoreApps

  /// - Throws: ``SignedDataRejected``, or ``NotOurPurchase``.
  func transaction(_ text: String) async throws -> AppStoreTransaction {
    let transaction = try await signed(AppStoreTransaction.self, text)
    try apps.require(bundleID: transaction.bundleID, environment: transaction.environment)
    return transaction
  }

  /// Renewals do not name the app: their subscription does.
  ///
  /// - Throws: ``SignedDataRejected``, or ``NotOurPurchase``.
  func renewal(_ text: String) async throws -> AppStoreRenewal {
    let renewal = try await signed(AppStoreRenewal.self, text)
    guard let environment = AppStoreEnvironment(rawValue: renewal.environment),
      apps.environments.contains(environment)
    else { throw NotOurPurchase(reason: "an environment that APPLE_STORE_ENVIRONMENTS does not have") }
    return renewal
  }

  /// A notification whose signature is the App Store's, whichever app it is for.
  ///
  /// - Throws: ``SignedDataRejected``.
  func notificationOfAnyApp(_ text: String) async throws(SignedDataRejected) -> AppStoreNotification {
    try await signed(AppStoreNotification.self, text)
  }

  /// A notification for one of our apps, with what is signed inside of it.
  ///
  /// - Throws: ``SignedDataRejected``, or ``NotOurPurchase``.
  func notification(_ text: String) async throws -> VerifiedNotification {
    let notification = try await notificationOfAnyApp(text)
    let subject = notification.subject
    try apps.require(subject)
    var verified = VerifiedNotification(notification: notification)
    if let text = subject.signedTransaction { verified.transaction = try await transaction(text) }
    if let text = subject.signedRenewal { verified.renewal = try await renewal(text) }
    return verified
  }

  private func signed<Payload: AppStorePayload>(
    _ type: Payload.Type, _ text: String
  ) async throws(SignedDataRejected) -> Payload {
    try await AppStoreSignedData(text).verified(type, by: certificates)
  }
}

/// A notification for one of our apps, with what is signed inside of it.
struct VerifiedNotification: Sendable {
  let notification: AppStoreNotification
  var transaction: AppStoreTransaction?
  var renewal: AppStoreRenewal?
}
