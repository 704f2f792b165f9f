import Database
import Foundation
import Quotas
import Wire

/// Codes are short enough to be found by whoever may try often enough: tries that find nothing are counted, for whoever
/// tries and in all.
struct CodeTries: Sendable {
  let quotas: QuotaStore

  private static let ofOne = Quota(name: "wrong codes", limit: 10, window: .seconds(3600))
  private static let ofAll = Quota(name: "wrong codes of all", limit: 300, window: .seconds(3600))
  private static let looksFromHere = Quota(name: "wrong looks", limit: 30, window: .seconds(3600))
  private static let looksOfAll = Quota(name: "wrong looks of all", limit: 3000, window: .seconds(3600))

  /// What `find` finds. The try is counted before it is made, so that of many at once no more are made than may be.
  ///
  /// - Parameter caller: who tries, or from where somebody looks.
  /// - Throws: 429; the transaction must roll back then. A nil must not, or it does not count.
  func counted<Found>(
    by caller: Caller, at now: Date, on db: any Connection, find: () throws -> Found?
  ) throws -> Found? {
    let (one, all) = caller.quotas
    try quotas.take(one, for: caller.key, at: now, on: db)
    try quotas.take(all, for: "", at: now, on: db)
    guard let found = try find() else { return nil }
    try quotas.giveBack(one, for: caller.key, on: db)
    try quotas.giveBack(all, for: "", on: db)
    return found
  }

  enum Caller: Sendable {
    case user(UserID)
    /// Somebody who only looks, from an address.
    case place(String)

    fileprivate var key: String {
      switch self {
      case .user(let user): user.description
      case .place(let place): place
      }
    }

    fileprivate var quotas: (one: Quota, all: Quota) {
      switch self {
      case .user: (CodeTries.ofOne, CodeTries.ofAll)
      case .place: (CodeTries.looksFromHere, CodeTries.looksOfAll)
      }
    }
  }
}
