/// The decision of a rate limit on one request, and the values of its response headers. All times are durations, so
/// it does not matter whose clock was used.
package struct LimitVerdict: Sendable, Equatable {
  package let isAllowed: Bool
  package let limit: Int
  package let remaining: Int
  /// Until the whole quota is available again.
  package let resetAfter: Nanoseconds
  /// Until another request is allowed; 0 when this one is.
  package let retryAfter: Nanoseconds

  /// - Parameter ahead: how far the theoretical arrival time is ahead of now: after counting this request if it is
  ///   allowed; 0 to the quota's `refillTime`.
  init(isAllowed: Bool, ahead: Nanoseconds, of quota: Quota) {
    self.isAllowed = isAllowed
    limit = quota.perMinute
    let left = quota.refillTime - ahead
    remaining = isAllowed ? Int(left / quota.interval) : 0
    resetAfter = ahead
    retryAfter = isAllowed ? 0 : quota.interval - left
  }

  /// For `Retry-After`: whole seconds, rounded up, at least one.
  package var retryAfterSeconds: Int { max(1, Int(retryAfter.secondsRoundedUp)) }
}

/// The generic cell rate algorithm (ITU-T I.371): a token bucket that stores a single time, the theoretical arrival
/// time (TAT) at which the bucket will be full again.
package enum GCRA {
  /// - Parameters:
  ///   - tat: the time that the last `take` returned; nil for a full bucket.
  ///   - now: on any monotonic clock. If it goes backwards, no client waits longer than for a whole quota.
  /// - Returns: the verdict, and the time to store; a refusal does not change it.
  package static func take(
    from tat: Nanoseconds?, quota: Quota, at now: Nanoseconds
  ) -> (verdict: LimitVerdict, tat: Nanoseconds) {
    let ahead = Self.ahead(tat, quota, at: now)
    let counted = ahead + quota.interval
    guard counted <= quota.refillTime else {
      return (LimitVerdict(isAllowed: false, ahead: ahead, of: quota), now.adding(ahead))
    }
    return (LimitVerdict(isAllowed: true, ahead: counted, of: quota), now.adding(counted))
  }

  /// The refusal that `take` would return, or nil if it would allow the request.
  static func refusal(from tat: Nanoseconds, quota: Quota, at now: Nanoseconds) -> LimitVerdict? {
    let ahead = Self.ahead(tat, quota, at: now)
    guard ahead + quota.interval > quota.refillTime else { return nil }
    return LimitVerdict(isAllowed: false, ahead: ahead, of: quota)
  }

  private static func ahead(_ tat: Nanoseconds?, _ quota: Quota, at now: Nanoseconds) -> Nanoseconds {
    guard let tat, tat > now else { return 0 }
    let (ahead, overflow) = tat.subtractingReportingOverflow(now)
    return overflow ? quota.refillTime : min(ahead, quota.refillTime)
  }
}

extension Nanoseconds {
  /// The sum, or the maximum on overflow.
  func adding(_ duration: Nanoseconds) -> Nanoseconds {
    let (sum, overflow) = addingReportingOverflow(duration)
    return overflow ? .max : sum
  }

  /// A duration that is not negative, in whole seconds.
  var secondsRoundedUp: Int64 {
    let (seconds, rest) = quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest > 0 ? seconds + 1 : seconds
  }
}
