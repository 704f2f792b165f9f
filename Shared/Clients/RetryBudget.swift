import Synchronization

/// Keeps retries from making a bad time worse: every call earns a tenth of a retry, so that a service which is down gets
/// at most a tenth more calls than it would without any, and ten at once.
final class RetryBudget: Sendable {
  private static let most = 100
  private static let earned = 1
  private static let cost = 10

  /// In tenths of a retry.
  private let tenths = Mutex(most)

  func earn() { tenths.withLock { $0 = min(Self.most, $0 + Self.earned) } }

  /// Whether there is a retry left; it is used up then.
  func spend() -> Bool {
    tenths.withLock { tenths in
      guard tenths >= Self.cost else { return false }
      tenths -= Self.cost
      return true
    }
  }
}
