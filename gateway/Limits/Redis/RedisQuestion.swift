import NIOCore

/// A take that Redis is asked for.
struct RedisQuestion {
  let key: LimitKey
  let quota: Quota
  /// On the gateway's clock.
  let askedAt: Int64
  let later: (LimitVerdict) -> Void
  /// When the answer is too late.
  var due = NIODeadline.distantFuture
  /// Whether it has been sent with the whole script.
  var isRepeated = false
}

/// What Redis said to a take.
struct RedisAnswer {
  let isAllowed: Bool
  /// Nanoseconds.
  let ahead: Int64

  /// Nil for what no take with this quota could have brought.
  init?(_ reply: RESP, _ quota: Quota) {
    guard case .array(let parts) = reply, parts.count == 2, case .integer(let allowed) = parts[0],
      case .integer(let ahead) = parts[1]
    else { return nil }
    switch allowed {
    case 0: guard (0...quota.whole).contains(ahead), ahead + quota.interval > quota.whole else { return nil }
    case 1: guard (quota.interval...quota.whole).contains(ahead) else { return nil }
    default: return nil
    }
    self.isAllowed = allowed == 1
    self.ahead = ahead
  }
}
