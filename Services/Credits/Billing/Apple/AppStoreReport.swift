import Foundation

/// What the App Store has reported about a purchase at a time: by a notification, by a transaction that the app sends,
/// or in answer to our question.
struct AppStoreReport: Sendable, Hashable, Codable {
  let transaction: AppStoreTransaction
  /// The share that is taken back, in thousandths of a percent; 0 when a refund was reversed. nil when the report says
  /// nothing about it: that a transaction has no revocation does not reverse a refund.
  let revokedShare: Int?
  /// By the App Store's clock.
  let at: Date
  var phase: SubscriptionState.PhaseReport?
  var renewal: SubscriptionState.RenewalReport?

  init(_ transaction: AppStoreTransaction) {
    self.transaction = transaction
    revokedShare = transaction.revokedShare
    at = transaction.signedAt
  }

  /// The state of a subscription in answer to our question.
  init(_ transaction: AppStoreTransaction, _ renewal: AppStoreRenewal?, phase: SubscriptionState.Phase) {
    self.transaction = transaction
    revokedShare = transaction.revokedShare
    at = max(transaction.signedAt, renewal?.signedAt ?? transaction.signedAt)
    self.phase = .init(phase: phase, graceEndsAt: renewal?.graceEndsAt, at: at)
    self.renewal = renewal.map { [at] in .init(willRenew: $0.willRenew, at: at) }
  }

  /// nil for a notification without a transaction.
  init?(_ verified: VerifiedNotification) {
    guard let transaction = verified.transaction else { return nil }
    let (notification, renewal) = (verified.notification, verified.renewal)
    self.transaction = transaction
    // Not before what is signed inside of the notification.
    let at = [notification.signedAt, transaction.signedAt, renewal?.signedAt].compactMap { $0 }.max() ?? .distantPast
    self.at = at
    revokedShare =
      switch notification.type {
      case "REFUND", "REVOKE": transaction.revokedShare ?? AppStoreTransaction.wholeShare
      case "REFUND_REVERSED": 0
      default: transaction.revokedShare
      }
    phase = notification.phase.map { .init(phase: $0, graceEndsAt: renewal?.graceEndsAt, at: at) }
    self.renewal = (notification.willRenew ?? renewal?.willRenew).map { .init(willRenew: $0, at: at) }
  }

  /// The period that was bought; nil for a purchase that does not end.
  var period: SubscriptionState.Period? {
    transaction.expiresAt.map { end in
      .init(
        transactionID: transaction.id, productID: transaction.productID, purchasedAt: transaction.purchasedAt,
        endsAt: end, at: at)
    }
  }
}

extension AppStoreNotification {
  /// The phase that follows from the type; where none does, the status that the notification gives.
  fileprivate var phase: SubscriptionState.Phase? {
    switch (type, subtype) {
    case ("SUBSCRIBED", _), ("DID_RENEW", _), ("OFFER_REDEEMED", _), ("RENEWAL_EXTENDED", _): .active
    case ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"): .grace
    case ("DID_FAIL_TO_RENEW", _), ("GRACE_PERIOD_EXPIRED", _): .billingRetry
    case ("EXPIRED", _): .expired
    default: subject.status
    }
  }

  /// The same for whether the subscription renews itself.
  fileprivate var willRenew: Bool? {
    switch (type, subtype) {
    case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"): true
    case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("EXPIRED", "VOLUNTARY"): false
    default: nil
    }
  }
}
