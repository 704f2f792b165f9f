import Logging
import NIOCore

/// Counts the requests of one event loop: with all gateways through Redis while it is there, with this gateway's other
/// event loops in memory while it is not. Made, used and stopped on its event loop.
///
/// Memory also keeps what Redis said. Whoever has used up a quota is refused without asking again, so a flood stays
/// here; and when Redis goes away, nobody starts afresh.
package final class Limiter {
  private let quotas: Quotas
  private let local: MemoryLimits
  private let now: @Sendable () -> Int64
  private let redis: RedisLink?

  /// - Parameters:
  ///   - now: nanoseconds on a clock that only goes forward.
  ///   - outage: one for all event loops, so that an outage is logged once.
  ///   - patience: how long Redis may take to answer.
  package init(
    quotas: Quotas, local: MemoryLimits, redis: RedisURL?, on loop: any EventLoop, logger: Logger,
    now: @escaping @Sendable () -> Int64, outage: RedisOutage = RedisOutage(),
    patience: TimeAmount
  ) {
    self.quotas = quotas
    self.local = local
    self.now = now
    self.redis = redis.map { url in
      RedisLink(to: url, on: loop, patience: patience, outage: outage, logger: logger) { question, answer in
        question.later(Self.verdict(question, answer, local, now))
      }
    }
  }

  /// Whether verdicts may come later. False while Redis is away.
  package var isShared: Bool { redis?.isReady ?? false }

  /// Counts in memory alone.
  package func take(_ key: LimitKey) -> LimitVerdict { local.take(key, quotas[key.limit], at: now()) }

  /// - Parameter later: called on this event loop, after this function has returned nil, and within `patience`.
  /// - Returns: nil when the verdict comes later.
  package func take(_ key: LimitKey, later: @escaping (LimitVerdict) -> Void) -> LimitVerdict? {
    guard let redis, redis.isReady else { return take(key) }
    let quota = quotas[key.limit]
    let time = now()
    // What one gateway has seen, all together have seen: it is a refusal there as well.
    if let refusal = local.refusal(key, quota, at: time) { return refusal }
    guard redis.ask(RedisQuestion(key: key, quota: quota, askedAt: time, later: later)) else { return take(key) }
    return nil
  }

  /// The refusal that is certain from what is known at this gateway. Counts nothing.
  func refusal(_ key: LimitKey) -> LimitVerdict? { local.refusal(key, quotas[key.limit], at: now()) }

  /// Gives up on Redis; whatever waits gets its verdict now.
  package func stop() { redis?.stop() }

  private static func verdict(
    _ question: RedisQuestion, _ answer: RedisAnswer?, _ local: MemoryLimits, _ now: @Sendable () -> Int64
  ) -> LimitVerdict {
    guard let answer else { return local.take(question.key, question.quota, at: now()) }
    // Since then some time has passed, so this is no more than what Redis counts.
    local.learn(question.askedAt.adding(answer.ahead), of: question.key, at: question.askedAt)
    return LimitVerdict(isAllowed: answer.isAllowed, ahead: answer.ahead, of: question.quota)
  }
}
