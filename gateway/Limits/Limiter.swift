import Logging
import NIOCore

/// Counts the requests of one event loop: in Redis, together with all gateways, while it is available, else in memory,
/// together with the other event loops of this gateway. Created, used and stopped on its event loop.
///
/// Replies of Redis are also recorded in memory. A key whose quota is used up is refused without querying Redis again,
/// so a flood stays at this gateway, and quotas are not reset when Redis becomes unavailable.
package final class Limiter {
  private let quotas: LimitQuotas
  private let local: MemoryLimits
  private let now: @Sendable () -> Nanoseconds
  private let redis: RedisClient?

  /// - Parameters:
  ///   - now: on a monotonic clock.
  ///   - outageLog: one for all event loops, so that an outage is logged once.
  ///   - timeout: how long a reply of Redis may take.
  package init(
    quotas: LimitQuotas, local: MemoryLimits, redis: RedisURL?, on loop: any EventLoop, logger: Logger,
    now: @escaping @Sendable () -> Nanoseconds, outageLog: RedisOutageLog = RedisOutageLog(), timeout: TimeAmount
  ) {
    self.quotas = quotas
    self.local = local
    self.now = now
    self.redis = redis.map { url in
      RedisClient(to: url, on: loop, timeout: timeout, outageLog: outageLog, logger: logger) { command, reply in
        command.completion(Self.verdict(command, reply, local, now))
      }
    }
  }

  /// Whether requests are counted in Redis, so that verdicts may be asynchronous. False while Redis is unavailable.
  package var isShared: Bool { redis?.isReady ?? false }

  /// Counts in memory only.
  package func take(_ key: LimitKey) -> LimitVerdict { local.take(key, quotas[key.limit], at: now()) }

  /// - Parameter completion: called on this event loop, after this function has returned nil, and within `timeout`.
  /// - Returns: nil when the verdict is passed to `completion` instead.
  package func take(_ key: LimitKey, completion: @escaping (LimitVerdict) -> Void) -> LimitVerdict? {
    guard let redis, redis.isReady else { return take(key) }
    let quota = quotas[key.limit]
    let time = now()
    // All gateways together have counted at least what this one has, so Redis would refuse the request too.
    if let refusal = local.refusal(key, quota, at: time) { return refusal }
    let command = RedisCommand(key: key, quota: quota, sentAt: time, completion: completion)
    guard redis.send(command) else { return take(key) }
    return nil
  }

  /// The refusal that follows from what this gateway has recorded, if any. Counts nothing.
  func refusal(_ key: LimitKey) -> LimitVerdict? { local.refusal(key, quotas[key.limit], at: now()) }

  /// Closes the connection to Redis. Requests that wait for a reply get their verdicts from memory now.
  package func stop() { redis?.stop() }

  private static func verdict(
    _ command: RedisCommand, _ reply: RedisReply?, _ local: MemoryLimits, _ now: @Sendable () -> Nanoseconds
  ) -> LimitVerdict {
    guard let reply else { return local.take(command.key, command.quota, at: now()) }
    // Relative to when the command was sent, so memory never counts more than Redis does.
    local.merge(command.sentAt.adding(reply.ahead), of: command.key, at: command.sentAt)
    return LimitVerdict(isAllowed: reply.isAllowed, ahead: reply.ahead, of: command.quota)
  }
}
