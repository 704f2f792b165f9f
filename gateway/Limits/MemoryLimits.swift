import Synchronization

/// The used quotas of all keys, in the memory of this process and shared by its event loops.
///
/// The keys are split into shards, each with a lock that is held for nanoseconds. A quota that was not used for a
/// minute is full again, so its entry can be removed: each shard has two generations of entries, and every minute the
/// old generation is removed and the young one becomes old. When the young one is full this happens earlier, which
/// bounds the memory against clients with many addresses.
package final class MemoryLimits: Sendable {
  private let shards: [Shard]
  private let seed = UInt64.random(in: .min ... .max)

  /// - Parameter entriesMax: the maximum number of entries. Half as many keys are never removed within a minute.
  package init(entriesMax: Int = 262_144) {
    // A small table is not split, because random imbalance would fill one shard long before the others.
    let count = entriesMax < 65_536 ? 1 : 64
    let youngEntriesMax = max(1, entriesMax / count / 2)
    shards = (0..<count).map { _ in Shard(youngEntriesMax: youngEntriesMax) }
  }

  package func take(_ key: LimitKey, _ quota: Quota, at now: Nanoseconds) -> LimitVerdict {
    shard(of: key).take(key, quota, at: now)
  }

  /// The refusal that follows from the entry of the key, if any. Counts nothing.
  func refusal(_ key: LimitKey, _ quota: Quota, at now: Nanoseconds) -> LimitVerdict? {
    shard(of: key).refusal(key, quota, at: now)
  }

  /// Records what was counted in Redis, unless more has been counted here.
  func merge(_ tat: Nanoseconds, of key: LimitKey, at now: Nanoseconds) { shard(of: key).merge(tat, of: key, at: now) }

  /// The number of entries, at most `entriesMax`.
  package var count: Int { shards.reduce(0) { $0 + $1.count } }

  /// The random seed prevents clients from choosing addresses that all fall into one shard.
  private func shard(of key: LimitKey) -> Shard {
    let mixed = (key.high ^ seed).multipliedFullWidth(by: key.low ^ seed &* 0x9E37_79B9_7F4A_7C15 | 1)
    return shards[Int(truncatingIfNeeded: (mixed.high ^ mixed.low) >> 32) & (shards.count &- 1)]
  }
}

/// A part of all keys, with one lock.
private final class Shard: Sendable {
  private let table: Mutex<GenerationalTable>

  init(youngEntriesMax: Int) { table = Mutex(GenerationalTable(youngEntriesMax: youngEntriesMax)) }

  var count: Int { table.withLock { $0.young.count + $0.old.count } }

  func take(_ key: LimitKey, _ quota: Quota, at now: Nanoseconds) -> LimitVerdict {
    table.withLock { $0.take(key, quota, at: now) }
  }

  func refusal(_ key: LimitKey, _ quota: Quota, at now: Nanoseconds) -> LimitVerdict? {
    table.withLock { $0.refusal(key, quota, at: now) }
  }

  func merge(_ tat: Nanoseconds, of key: LimitKey, at now: Nanoseconds) {
    table.withLock { $0.merge(tat, of: key, at: now) }
  }
}

/// The theoretical arrival times of the keys of a shard, in two generations by their last use.
private struct GenerationalTable {
  private(set) var young: [LimitKey: Nanoseconds]
  private(set) var old: [LimitKey: Nanoseconds]
  /// When the young generation was started.
  private var rotatedAt: Nanoseconds?
  private let youngEntriesMax: Int
  /// Every quota is full again after this time, so an entry that was not used meanwhile can be removed.
  private static let period = Quota.minute

  /// Allocates the full capacity at once, so that no request pays for a growing table. The system commits the memory
  /// only when it is used.
  init(youngEntriesMax: Int) {
    young = .init(minimumCapacity: youngEntriesMax)
    old = .init(minimumCapacity: youngEntriesMax)
    self.youngEntriesMax = youngEntriesMax
  }

  mutating func take(_ key: LimitKey, _ quota: Quota, at now: Nanoseconds) -> LimitVerdict {
    rotateIfNeeded(at: now)
    if let index = young.index(forKey: key) {
      let (verdict, tat) = GCRA.take(from: young.values[index], quota: quota, at: now)
      if verdict.isAllowed { young.values[index] = tat }
      return verdict
    }
    let (verdict, tat) = GCRA.take(from: old[key], quota: quota, at: now)
    // Also after a refusal, so that a key in use is not removed during a flood of other keys.
    insert(tat, key, at: now)
    return verdict
  }

  mutating func refusal(_ key: LimitKey, _ quota: Quota, at now: Nanoseconds) -> LimitVerdict? {
    if let tat = young[key] { return GCRA.refusal(from: tat, quota: quota, at: now) }
    guard let tat = old[key], let refusal = GCRA.refusal(from: tat, quota: quota, at: now) else { return nil }
    insert(tat, key, at: now)
    return refusal
  }

  mutating func merge(_ tat: Nanoseconds, of key: LimitKey, at now: Nanoseconds) {
    rotateIfNeeded(at: now)
    if let index = young.index(forKey: key) {
      if tat > young.values[index] { young.values[index] = tat }
    } else if tat > old[key] ?? now {
      insert(tat, key, at: now)
    }
  }

  private mutating func insert(_ tat: Nanoseconds, _ key: LimitKey, at now: Nanoseconds) {
    if young.count >= youngEntriesMax { rotate(at: now) }
    young[key] = tat
  }

  private mutating func rotateIfNeeded(at now: Nanoseconds) {
    guard let rotatedAt else { return self.rotatedAt = now }
    guard now >= rotatedAt.adding(Self.period) else { return }
    rotate(at: now)
    // There was no request for so long that the young generation has expired too.
    if now >= rotatedAt.adding(Self.period).adding(Self.period) { old.removeAll(keepingCapacity: true) }
  }

  private mutating func rotate(at now: Nanoseconds) {
    swap(&young, &old)
    young.removeAll(keepingCapacity: true)
    rotatedAt = now
  }
}
