import Clients
import Database
import Foundation
import Quotas
import Wire

/// Codes are short enough to be found by whoever may try often enough: tries that find nothing are counted, for whoever
/// tries, for where they are, and in all.
///
/// The counts of one caller and of where they are hold for everybody. Only what all others have tried keeps nobody out
/// who has not guessed: beyond the count of all, a first wrong try within the hour is free to whoever has proven who they
/// are, and first looks are to every address.
struct CodeTries: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let users: UsersClient

  private static let ofOne = Quota(name: "wrong codes", limit: 10, window: .seconds(3600))
  private static let fromHere = Quota(name: "wrong codes here", limit: 60, window: .seconds(3600))
  private static let ofAll = Quota(name: "wrong codes of all", limit: 300, window: .seconds(3600))
  private static let looksFromHere = Quota(name: "wrong looks", limit: 30, window: .seconds(3600))
  private static let looksFromNear = Quota(name: "wrong looks near", limit: 120, window: .seconds(3600))
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
      let here = Try(quota: Self.fromHere, key: asker.place)
      let all = Try(quota: Self.ofAll, key: "")
      return try counted(own, here, all, isFirstFree: isProven, at: now, on: db) { try find(db) }
    }
    do { return try await database.write { try tried(isProven: false, $0) } } catch let spent as SpentByOthers {
      // Who they are is asked only when it matters.
      guard await isProven(asker.user) else { throw spent.refusal }
    }
    return try await database.write { try tried(isProven: true, $0) }
  }

  /// False also while auth does not answer.
  private func isProven(_ user: UserID) async -> Bool {
    do { return try await users.people([user])[user]?.isProven ?? false } catch { return false }
  }

  /// The same for whoever only looks, from an address.
  ///
  /// - Throws: 429; the transaction must roll back then. A nil must not, or it does not count.
  func counted<Found>(
    from place: String, at now: Date, on db: any Connection, find: () throws -> Found?
  ) throws -> Found? {
    let own = Try(quota: Self.looksFromHere, key: place)
    // Whoever has one IPv6 network often has thousands, each of which has its first look.
    let near = Try(quota: Self.looksFromNear, key: Self.surroundings(of: place))
    let all = Try(quota: Self.looksOfAll, key: "")
    return try counted(own, near, all, isFirstFree: true, at: now, on: db, find: find)
  }

  /// The /24 of an IPv4 address, the /48 of an IPv6 network, as `place` writes them: four numbers, or the first four of
  /// eight groups.
  static func surroundings(of place: String) -> String {
    for separator: Character in [".", ":"] {
      let parts = place.split(separator: separator)
      if parts.count == 4 { return parts.prefix(3).joined(separator: String(separator)) }
    }
    return place
  }

  private struct Try {
    let quota: Quota
    let key: String
  }

  /// What others have tried is in the way, and not what this one has.
  private struct SpentByOthers: Error {
    let refusal: Failure
  }

  /// - Throws: 429; ``SpentByOthers`` when it is the caller's first try, which is not free.
  private func counted<Found>(
    _ own: Try, _ near: Try, _ all: Try, isFirstFree: Bool, at now: Date, on db: any Connection,
    find: () throws -> Found?
  ) throws -> Found? {
    try quotas.take(own.quota, for: own.key, at: now, on: db)
    // From here on the same one's other tries wait for this transaction.
    let isFirst = try quotas.taken(own.quota, for: own.key, on: db) == 1
    try quotas.take(near.quota, for: near.key, at: now, on: db)
    if isFirst, isFirstFree {
      try quotas.count(all.quota, for: all.key, at: now, on: db)
    } else {
      do { try quotas.take(all.quota, for: all.key, at: now, on: db) } catch let refusal as Failure where isFirst {
        throw SpentByOthers(refusal: refusal)
      }
    }
    guard let found = try find() else { return nil }
    for counted in [own, near, all] { try quotas.giveBack(counted.quota, for: counted.key, on: db) }
    return found
  }
}
