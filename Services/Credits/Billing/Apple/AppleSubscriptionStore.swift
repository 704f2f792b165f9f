import Database
import Foundation

/// Every statement on what is known of subscriptions of the App Store.
enum AppleSubscriptionStore {
  /// Locks the row of a subscription, which it inserts if there is none, until the transaction ends.
  static func locked(_ transaction: AppStoreTransaction, on db: any Connection) throws -> SubscriptionState {
    try db.change(
      """
      insert into apple_subscription (subscription_id, bundle_id, environment)
      values (\(transaction.originalID), \(transaction.bundleID), \(transaction.environment))
      on conflict (subscription_id) do nothing
      """)
    let row = try db.row(
      """
      update apple_subscription set environment = environment where subscription_id = \(transaction.originalID)
      returning phase, phase_at, grace_ends_at, will_renew, renewal_at, transaction_id, product_id, purchased_at,
        ends_at, period_at
      """)
    guard let row else { throw DatabaseFailure.contended }
    return try SubscriptionState(row)
  }

  /// - Parameter checkAt: when the App Store is asked, unless it has reported something before; nil for never.
  static func set(_ state: SubscriptionState, of id: String, checkAt: Date?, on db: any Connection) throws {
    let (phase, period) = (state.phase, state.period)
    try db.change(
      """
      update apple_subscription set phase = \(phase?.phase.rawValue), phase_at = \(phase?.at),
        grace_ends_at = \(phase?.graceEndsAt), will_renew = \(state.renewal?.willRenew),
        renewal_at = \(state.renewal?.at), transaction_id = \(period?.transactionID),
        product_id = \(period?.productID), purchased_at = \(period?.purchasedAt), ends_at = \(period?.endsAt),
        period_at = \(period?.at), check_at = \(checkAt)
      where subscription_id = \(id)
      """)
  }

  /// A subscription of which no report has come although its period has ended.
  struct Stale: Sendable {
    let id: String
    /// A transaction of the subscription.
    let transactionID: String
    let app: AppStoreServerClient.App
  }

  /// Claims subscriptions whose check is due: the next one is due at `next`.
  static func claimStale(at now: Date, next: Date, limit: Int, on db: any Connection) throws -> [Stale] {
    try db.rows(
      """
      update apple_subscription set check_at = \(next)
      where check_at <= \(now) and subscription_id in (
        select subscription_id from apple_subscription where check_at <= \(now) order by check_at limit \(limit))
      returning subscription_id, transaction_id, bundle_id, environment
      """
    ).compactMap { row in
      guard let environment = AppStoreEnvironment(rawValue: try row.get("environment")) else { return nil }
      let id: String = try row.get("subscription_id")
      return Stale(
        id: id, transactionID: try row.optional("transaction_id") ?? id,
        app: .init(bundleID: try row.get("bundle_id"), environment: environment))
    }
  }
}

extension SubscriptionState {
  fileprivate init(_ row: Row) throws {
    if let number = try row.optional("phase", as: Int.self), let phase = Phase(rawValue: number) {
      self.phase = PhaseReport(
        phase: phase, graceEndsAt: try row.optional("grace_ends_at"), at: try row.get("phase_at"))
    }
    if let willRenew = try row.optional("will_renew", as: Bool.self) {
      renewal = RenewalReport(willRenew: willRenew, at: try row.get("renewal_at"))
    }
    if let transaction = try row.optional("transaction_id", as: String.self) {
      period = Period(
        transactionID: transaction, productID: try row.get("product_id"), purchasedAt: try row.get("purchased_at"),
        endsAt: try row.get("ends_at"), at: try row.get("period_at"))
    }
  }
}
