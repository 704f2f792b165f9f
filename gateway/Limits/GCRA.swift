/// What was decided on one request, and what its sender is told. Times are durations, so it matters to nobody whose
/// clock was asked.
package struct LimitVerdict: Sendable, Equatable {
  package let isAllowed: Bool
  package let limit: Int
  package let remaining: Int
  /// Nanoseconds until the whole quota is back.
  package let resetAfter: Int64
  /// Nanoseconds until one more would pass; 0 when this one did.
  package let retryAfter: Int64

  /// - Parameter ahead: how far the arrival time is ahead of now once this request is counted, or not, in nanoseconds;
  ///   0 to the quota's `whole`.
  init(isAllowed: Bool, ahead: Int64, of quota: Quota) {
    self.isAllowed = isAllowed
    limit = quota.perMinute
    let left = quota.whole - ahead
    remaining = isAllowed ? Int(left / quota.interval) : 0
    resetAfter = ahead
    retryAfter = isAllowed ? 0 : quota.interval - left
  }

  /// For `Retry-After`: whole seconds, rounded up, at least one.
  package var retryAfterSeconds: Int { max(1, Int(retryAfter.secondsRoundedUp)) }
}

/// The generic cell rate algorithm (ITU-T I.371): a token bucket that remembers a single time, the theoretical arrival
/// time (TAT) at which the bucket will be full again.
package enum GCRA {
  /// - Parameters:
  ///   - tat: what the last take returned; nil for a full bucket.
  ///   - now: nanoseconds on any clock that goes forward. If it goes back, nobody waits longer than for a whole quota.
  /// - Returns: the verdict, and the time to remember; a refusal does not move it.
  package static func take(
    from tat: Int64?, quota: Quota, at now: Int64
  ) -> (verdict: LimitVerdict, tat: Int64) {
    let ahead = Self.ahead(tat, quota, at: now)
    let counted = ahead + quota.interval
    guard counted <= quota.whole else {
      return (LimitVerdict(isAllowed: false, ahead: ahead, of: quota), now.adding(ahead))
    }
    return (LimitVerdict(isAllowed: true, ahead: counted, of: quota), now.adding(counted))
  }

  /// The refusal that `take` would give, or nil if it would not.
  static func refusal(from tat: Int64, quota: Quota, at now: Int64) -> LimitVerdict? {
    let ahead = Self.ahead(tat, quota, at: now)
    guard ahead + quota.interval > quota.whole else { return nil }
    return LimitVerdict(isAllowed: false, ahead: ahead, of: quota)
  }

  private static func ahead(_ tat: Int64?, _ quota: Quota, at now: Int64) -> Int64 {
    guard let tat, tat > now else { return 0 }
    let (ahead, overflow) = tat.subtractingReportingOverflow(now)
    return overflow ? quota.whole : min(ahead, quota.whole)
  }
}

extension Int64 {
  /// The sum, or the last time there is.
  func adding(_ nanoseconds: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(nanoseconds)
    return overflow ? .max : sum
  }

  /// Nanoseconds, not negative, in whole seconds.
  var secondsRoundedUp: Int64 {
    let (seconds, rest) = quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest > 0 ? seconds + 1 : seconds
  }
}
