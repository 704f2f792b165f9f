import Foundation

/// The state of a subscription of the App Store, from what has been reported about it.
///
/// Reports arrive in any order, and again. Each part of the state is what the report that the App Store signed last says
/// about it, so the state does not depend on the order.
struct SubscriptionState: Sendable, Hashable {
  /// Apple's `status`, with its numbers.
  enum Phase: Int, Sendable, Hashable, Codable {
    case active = 1
    case expired, billingRetry, grace, revoked
  }

  /// The phase at a time, by the App Store's clock.
  struct PhaseReport: Sendable, Hashable, Codable {
    let phase: Phase
    /// How long the service goes on although the payment has failed.
    var graceEndsAt: Date?
    let at: Date
  }

  /// Whether the subscription renews itself, at a time, by the App Store's clock.
  struct RenewalReport: Sendable, Hashable, Codable {
    let willRenew: Bool
    let at: Date
  }

  /// A period that was bought, at a time, by the App Store's clock.
  struct Period: Sendable, Hashable {
    let transactionID: String
    let productID: String
    let purchasedAt: Date
    let endsAt: Date
    let at: Date
  }

  var phase: PhaseReport?
  var renewal: RenewalReport?
  /// The period that was bought last.
  var period: Period?
  /// Whether that purchase was refunded, or is not shared with this person any more.
  var isRevoked = false

  /// A purchase that was reported after the phase, before the end of its period, is itself a report that the
  /// subscription is active.
  var currentPhase: Phase {
    if isRevoked { return .revoked }
    guard let phase else { return .active }
    if let period, period.at > phase.at, period.endsAt > period.at { return .active }
    return phase.phase
  }

  var willRenew: Bool {
    guard let renewal else { return currentPhase == .active }
    // A new purchase after the end renews itself, until a later report says otherwise.
    if let phase, let period, phase.phase == .expired, currentPhase == .active, renewal.at < period.at {
      return true
    }
    return renewal.willRenew
  }

  /// The end of the period that was paid; in the grace period the end of that.
  var endsAt: Date? {
    guard let period else { return nil }
    return currentPhase == .grace ? max(phase?.graceEndsAt ?? period.endsAt, period.endsAt) : period.endsAt
  }

  /// When the App Store reported the newest part of the state.
  var reportedAt: Date { [phase?.at, renewal?.at, period?.at].compactMap { $0 }.max() ?? .distantPast }

  /// Takes a report, unless a later one is known. Of two of the same millisecond it takes one that does not depend on
  /// their order.
  mutating func take(_ report: PhaseReport) {
    guard let known = phase else { return phase = report }
    if (known.at, known.phase.rawValue) < (report.at, report.phase.rawValue) { phase = report }
  }

  mutating func take(_ report: RenewalReport) {
    guard let known = renewal else { return renewal = report }
    if (known.at, known.willRenew ? 0 : 1) < (report.at, report.willRenew ? 0 : 1) { renewal = report }
  }

  /// Takes a period that was bought later than the known one, and a later report on the known one.
  mutating func take(_ report: Period) {
    if period.map({ $0.order < report.order }) ?? true { period = report }
  }
}

extension SubscriptionState.Period {
  fileprivate var order: (Date, String, Date, Date) { (purchasedAt, transactionID, at, endsAt) }
}
