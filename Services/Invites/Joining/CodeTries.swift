import Clients
import Database
import Foundation
import Quotas
import Wire

/// Codes are short enough to be found by whoever may try often enough: tries that find nothing are counted, for whoever
/// tries, for where they are, and in all.
///
/// What others have tried keeps nobody out who has not guessed: a first wrong try within the hour is always free to whoever
/// has proven who they are, and first looks are to every address.
struct CodeTries: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let users: UsersClient

  private static let ofOne = Quota(name: "wrong codes", limit: 10, window: .seconds(3600))
  private static let fromHere = Quota(name: "wrong codes here", limit: 60, window: .seconds(3600))
  private static let ofAll = Quota(name: "wrong codes of all", limit: 300, window: .seconds(3600))
  private static let looksFromHere = Quota(name: "wrong looks", limit: 30, window: .seconds(3600))
  private static let looksOfAll = Quota(name: "wrong looks of all", limit: 3000, window: .seconds(3600))

  /// What `find` finds for somebody who would come in by it. The try is counted before it is made, so that of many at once
  /// no more are made than may be.
  ///
  /// - Throws: 429.
  func counted<Found: Sendable>(
    by asker: Asker, at now: Date, find: @escaping @Sendable (any Connection) throws -> Found?
  ) async throws -> Found? {
    @Sendable func tried(isProven: Bool, _ db: any Connection) throws -> Found? {
      let own = Try(quota: Self.ofOne, key: asker.user.description)
      let others = [Try(quota: Self.fromHere, key: asker.place), Try(quota: Self.ofAll, key: "")]
      return try counted(own, others, isFirstFree: isProven, at: now, on: db) { try find(db) }
    }
    do { return try await database.write { try tried(isProven: false, $0) } } catch let refusal as Failure
      where refusal.kind == .limited
    {
      // Who they are is asked only when it matters.
      guard try await users.people([asker.user])[asker.user]?.isProven ?? false else { throw refusal }
      return try await database.write { try tried(isProven: true, $0) }
    }
  }

  /// The same for whoever only looks, from an address.
  ///
  /// - Throws: 429; the transaction must roll back then. A nil must not, or it does not count.
  func counted<Found>(
    from place: String, at now: Date, on db: any Connection, find: () throws -> Found?
  ) throws -> Found? {
    let (own, all) = (Try(quota: Self.looksFromHere, key: place), Try(quota: Self.looksOfAll, key: ""))
    return try counted(own, [all], isFirstFree: true, at: now, on: db, find: find)
  }

  private struct Try {
    let quota: Quota
    let key: String
  }

  private func counted<Found>(
    _ own: Try, _ others: [Try], isFirstFree: Bool, at now: Date, on db: any Connection, find: () throws -> Found?
  ) throws -> Found? {
    try quotas.take(own.quota, for: own.key, at: now, on: db)
    // From here on the same one's other tries wait for this transaction.
    let isFirst = try quotas.taken(own.quota, for: own.key, on: db) == 1
    for other in others {
      if isFirst, isFirstFree {
        try quotas.count(other.quota, for: other.key, at: now, on: db)
      } else {
        try quotas.take(other.quota, for: other.key, at: now, on: db)
      }
    }
    guard let found = try find() else { return nil }
    for counted in [own] + others { try quotas.giveBack(counted.quota, for: counted.key, on: db) }
    return found
  }
}
