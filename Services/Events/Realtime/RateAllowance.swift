import NIOCore

/// A token bucket: so many messages a second in the long run, and a burst at once.
struct RateAllowance {
  private var tokens: Double
  private var refilledAt: NIODeadline
  private let perSecond: Double
  private let burst: Double

  init(perSecond: Int, burst: Int, at now: NIODeadline) {
    self.perSecond = Double(perSecond)
    self.burst = Double(burst)
    tokens = Double(burst)
    refilledAt = now
  }

  /// - Returns: false when the messages are too many; then none is counted.
  mutating func spend(_ count: Int = 1, at now: NIODeadline) -> Bool {
    tokens = available(at: now)
    refilledAt = now
    guard tokens >= Double(count) else { return false }
    tokens -= Double(count)
    return true
  }

  /// Whether nothing was spent for as long as it matters.
  func isFull(at now: NIODeadline) -> Bool { available(at: now) >= burst }

  private func available(at now: NIODeadline) -> Double {
    min(burst, tokens + Double((now - refilledAt).nanoseconds) / 1e9 * perSecond)
  }
}
