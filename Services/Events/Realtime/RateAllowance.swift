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

  /// - Returns: false when the message is too many.
  mutating func spend(at now: NIODeadline) -> Bool {
    let seconds = Double((now - refilledAt).nanoseconds) / 1e9
    tokens = min(burst, tokens + seconds * perSecond)
    refilledAt = now
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }
}
