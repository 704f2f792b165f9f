import Database
import Foundation
import Wire

/// Limits failed attempts at something that can be guessed: each counts against quotas of the caller and against the
/// total of all callers.
///
/// The total is spent by others, so it must not lock out those who have not guessed: where the first attempt is free,
/// the total does not apply to the first failed one of a caller within the window.
package struct LimitedAttempts: Sendable {
  /// A quota and the key under which it is counted.
  package struct Count: Sendable {
    let quota: Quota
    let key: String

    package init(_ quota: Quota, _ key: String) {
      self.quota = quota
      self.key = key
    }
  }

  /// The total is exceeded, while the caller's own quotas are not.
  package struct TotalExceeded: Error {
    package let refusal: Failure
  }

  private let quotas: QuotaStore
  private let own: Count
  private let others: [Count]
  private let total: Count

  /// - Parameters:
  ///   - own: the caller's own quota, which decides what is a first attempt.
  ///   - others: further quotas of the caller.
  package init(quotas: QuotaStore, own: Count, others: [Count] = [], total: Count) {
    self.quotas = quotas
    self.own = own
    self.others = others
    self.total = total
  }

  /// Counts an attempt, runs `find`, and gives the counts back when it finds something. For nil the transaction must
  /// commit, else the attempt does not count.
  ///
  /// - Throws: 429, after which the transaction must roll back; ``TotalExceeded`` when this is the caller's first
  ///   attempt within the window, and the first one is not free.
  package func limited<Found>(
    isFirstFree: Bool, at now: Date, on db: any Connection, find: (any Connection) throws -> Found?
  ) throws -> Found? {
    try quotas.take(own.quota, for: own.key, at: now, on: db)
    // Concurrent attempts under the same key wait here until this transaction ends.
    let isFirst = try quotas.taken(own.quota, for: own.key, on: db) == 1
    for other in others { try quotas.take(other.quota, for: other.key, at: now, on: db) }
    if isFirst, isFirstFree {
      try quotas.count(total.quota, for: total.key, at: now, on: db)
    } else {
      do { try quotas.take(total.quota, for: total.key, at: now, on: db) } catch let refusal as Failure where isFirst {
        throw TotalExceeded(refusal: refusal)
      }
    }
    guard let found = try find(db) else { return nil }
    for taken in [own] + others + [total] { try quotas.giveBack(taken.quota, for: taken.key, on: db) }
    return found
  }
}
