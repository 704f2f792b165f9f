import NIOCore

/// A call of ``RedisScript`` that takes one request from a quota.
struct RedisCommand {
  let key: LimitKey
  let quota: Quota
  /// When it was sent, on the gateway's clock.
  let sentAt: Nanoseconds
  let completion: (LimitVerdict) -> Void
  /// When the reply is too late.
  var deadline = NIODeadline.distantFuture
  /// Whether it has been resent with the whole script.
  var isRetried = false
}

/// The reply to a ``RedisCommand``.
struct RedisReply {
  let isAllowed: Bool
  /// How far the theoretical arrival time is ahead of the clock of Redis.
  let ahead: Nanoseconds

  /// nil for a reply that no call with this quota can have.
  init?(_ reply: RESP, _ quota: Quota) {
    guard case .array(let parts) = reply, parts.count == 2, case .integer(let allowed) = parts[0],
      case .integer(let ahead) = parts[1]
    else { return nil }
    switch allowed {
    case 0: guard (0...quota.refillTime).contains(ahead), ahead + quota.interval > quota.refillTime else { return nil }
    case 1: guard (quota.interval...quota.refillTime).contains(ahead) else { return nil }
    default: return nil
    }
    self.isAllowed = allowed == 1
    self.ahead = ahead
  }
}
