import Synchronization

/// How much of their quotas all have used, in the memory of this process and shared by its event loops.
///
/// Split into shards that are locked for nanoseconds. What was not used for a minute is a whole quota again and may be
/// forgotten: each shard has two generations, and every minute the old one goes and the young one becomes old. When the
/// young one is full this happens early, which bounds the memory against senders with endless addresses.
package final class MemoryLimits: Sendable {
  private let shards: [Shard]
  private let seed = UInt64.random(in: .min ... .max)

  /// - Parameter entriesMax: keys that are remembered at most; half of them are never forgotten within a minute.
  package init(entriesMax: Int = 262_144) {
    // Few keys are not split: chance would fill one shard long before the others.
    let count = entriesMax < 65_536 ? 1 : 64
    let youngMax = max(1, entriesMax / count / 2)
    shards = (0..<count).map { _ in Shard(youngMax: youngMax) }
  }

  package func take(_ key: LimitKey, _ quota: Quota, at now: Int64) -> LimitVerdict {
    shard(of: key).take(key, quota, at: now)
  }

  /// The refusal that is certain from what is known here. Counts nothing.
  func refusal(_ key: LimitKey, _ quota: Quota, at now: Int64) -> LimitVerdict? {
    shard(of: key).refusal(key, quota, at: now)
  }

  /// Takes over what has been counted elsewhere, unless more is known here.
  func learn(_ tat: Int64, of key: LimitKey, at now: Int64) { shard(of: key).learn(tat, of: key, at: now) }

  /// How many entries there are, which is never more than `entriesMax`.
  package var count: Int { shards.reduce(0) { $0 + $1.count } }

  /// The seed keeps senders from choosing addresses that all meet in one shard.
  private func shard(of key: LimitKey) -> Shard {
    let mixed = (key.high ^ seed).multipliedFullWidth(by: key.low ^ seed &* 0x9E37_79B9_7F4A_7C15 | 1)
    return shards[Int(truncatingIfNeeded: (mixed.high ^ mixed.low) >> 32) & (shards.count &- 1)]
  }
}

/// A part of all keys, locked as one.
private final class Shard: Sendable {
  private let generations: Mutex<Generations>

  init(youngMax: Int) { generations = Mutex(Generations(youngMax: youngMax)) }

  var count: Int { generations.withLock { $0.young.count + $0.old.count } }

  func take(_ key: LimitKey, _ quota: Quota, at now: Int64) -> LimitVerdict {
    generations.withLock { $0.take(key, quota, at: now) }
  }

  func refusal(_ key: LimitKey, _ quota: Quota, at now: Int64) -> LimitVerdict? {
    generations.withLock { $0.refusal(key, quota, at: now) }
  }

  func learn(_ tat: Int64, of key: LimitKey, at now: Int64) {
    generations.withLock { $0.learn(tat, of: key, at: now) }
  }
}

/// What the keys of a shard have used, by when it was used last.
private struct Generations {
  private(set) var young: [LimitKey: Int64]
  private(set) var old: [LimitKey: Int64]
  /// When the young generation began.
  private var turnedAt: Int64?
  private let youngMax: Int
  private static let period: Int64 = 60_000_000_000

  /// Takes all memory at once, so that nothing grows on the way of a request. The system gives none before it is used.
  init(youngMax: Int) {
    young = .init(minimumCapacity: youngMax)
    old = .init(minimumCapacity: youngMax)
    self.youngMax = youngMax
  }

  mutating func take(_ key: LimitKey, _ quota: Quota, at now: Int64) -> LimitVerdict {
    turnIfDue(at: now)
    if let index = young.index(forKey: key) {
      let (verdict, tat) = GCRA.take(from: young.values[index], quota: quota, at: now)
      if verdict.isAllowed { young.values[index] = tat }
      return verdict
    }
    let (verdict, tat) = GCRA.take(from: old[key], quota: quota, at: now)
    // Also after a refusal: whoever keeps coming is not forgotten in the middle of a flood.
    insert(tat, key, at: now)
    return verdict
  }

  mutating func refusal(_ key: LimitKey, _ quota: Quota, at now: Int64) -> LimitVerdict? {
    if let tat = young[key] { return GCRA.refusal(from: tat, quota: quota, at: now) }
    guard let tat = old[key], let refusal = GCRA.refusal(from: tat, quota: quota, at: now) else { return nil }
    insert(tat, key, at: now)
    return refusal
  }

  mutating func learn(_ tat: Int64, of key: LimitKey, at now: Int64) {
    turnIfDue(at: now)
    if let index = young.index(forKey: key) {
      if tat > young.values[index] { young.values[index] = tat }
    } else if tat > old[key] ?? now {
      insert(tat, key, at: now)
    }
  }

  private mutating func insert(_ tat: Int64, _ key: LimitKey, at now: Int64) {
    if young.count >= youngMax { turn(at: now) }
    young[key] = tat
  }

  private mutating func turnIfDue(at now: Int64) {
    guard let turnedAt else { return self.turnedAt = now }
    guard now >= turnedAt.adding(Self.period) else { return }
    turn(at: now)
    // Nobody came for so long that the young ones were old, too.
    if now >= turnedAt.adding(Self.period).adding(Self.period) { old.removeAll(keepingCapacity: true) }
  }

  private mutating func turn(at now: Int64) {
    swap(&young, &old)
    young.removeAll(keepingCapacity: true)
    turnedAt = now
  }
}
