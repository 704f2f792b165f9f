import Foundation
import Wire

/// The state of a user's subscription at a time of the provider's clock.
struct Subscription: Sendable, Hashable {
  /// The raw values are on the wire.
  enum Status: String, Sendable, Codable {
    /// Nothing has been paid yet.
    case none
    case active
    /// The last payment has failed and is tried again; the service goes on until the end of the period.
    case pastDue = "past_due"
    /// Ended by the user or the seller.
    case canceled
    /// Ended because it was not paid.
    case expired
  }

  let provider: PurchaseProvider
  let id: String
  let user: UserID
  let productID: String
  let tier: String
  let level: Int
  let status: Status
  let currentPeriodEnd: Date?
  let willRenew: Bool
  let environment: String
  /// The provider's own time of this state.
  let stateAt: Date
}

/// A subscription as it is stored.
struct StoredSubscription: Sendable, Hashable {
  let provider: PurchaseProvider
  let id: String
  /// nil after the user's erasure.
  let user: UserID?
  let productID: String
  let tier: String
  let level: Int
  let status: Subscription.Status
  let currentPeriodEnd: Date?
  let willRenew: Bool
  let environment: String
  let stateAt: Date
  /// Grows with each change.
  let revision: Int

  /// How long after the end of its period a subscription stays active without a word of the provider: its report of the
  /// renewal may be late.
  static let reportDelayMax: TimeInterval = 3 * 86_400

  /// The status, but `expired` when the renewal of an active one was not reported for too long.
  func status(at now: Date) -> Subscription.Status {
    guard status == .active, let end = currentPeriodEnd, end + Self.reportDelayMax <= now else { return status }
    return .expired
  }

  /// Whether the tier is granted: while a payment is tried again, until the end of the period.
  func isEntitled(at now: Date) -> Bool {
    switch status(at: now) {
    case .active: true
    case .pastDue: currentPeriodEnd.map { $0 > now } ?? true
    case .none, .canceled, .expired: false
    }
  }

  /// Of several subscriptions of a user, the one that counts: the best status, then the highest level, then the latest
  /// end.
  static func current(of subscriptions: [StoredSubscription], at now: Date) -> StoredSubscription? {
    subscriptions.max { ($0.rank(at: now), $0.level, $0.end) < ($1.rank(at: now), $1.level, $1.end) }
  }

  private func rank(at now: Date) -> Int {
    switch status(at: now) {
    case .active: 4
    case .pastDue: 3
    case .canceled: 2
    case .expired: 1
    case .none: 0
    }
  }

  private var end: Date { currentPeriodEnd ?? .distantPast }
}
