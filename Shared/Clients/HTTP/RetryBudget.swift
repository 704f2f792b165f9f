import Synchronization

/// Limits retries during an outage: every call adds a tenth of a retry, so a service that is down gets at most ten
/// percent more calls than without retries, and ten more at once.
final class RetryBudget: Sendable {
  private static let tenthsMax = 100
  private static let tenthsPerCall = 1
  private static let tenthsPerRetry = 10

  private let tenths = Mutex(tenthsMax)

  /// Adds the share of a call.
  func earn() { tenths.withLock { $0 = min(Self.tenthsMax, $0 + Self.tenthsPerCall) } }

  /// Takes one retry from the budget. False when there is none left.
  func spend() -> Bool {
    tenths.withLock { tenths in
      guard tenths >= Self.tenthsPerRetry else { return false }
      tenths -= Self.tenthsPerRetry
      return true
    }
  }
}
