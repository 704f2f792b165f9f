import Clients
import Database
import Foundation
import Quotas
import Wire

/// Limits how often codes may be guessed: failed lookups count per user or address, per network, and in total.
///
/// A user's own limit and the limits of an address and a network hold for everybody. Beyond the total, the first failed
/// attempt within the hour is still free for users who have verified an e-mail address or phone number, and for every
/// address that has looked up nothing wrong.
struct CodeAttemptLimiter: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let users: UsersClient

  private static let perUser = Quota(name: "wrong codes", limit: 10, window: .seconds(3600))
  private static let perAddress = Quota(name: "wrong codes here", limit: 60, window: .seconds(3600))
  private static let total = Quota(name: "wrong codes of all", limit: 300, window: .seconds(3600))
  private static let lookupsPerAddress = Quota(name: "wrong looks", limit: 30, window: .seconds(3600))
  private static let lookupsPerNetwork = Quota(name: "wrong looks near", limit: 120, window: .seconds(3600))
  private static let lookupsTotal = Quota(name: "wrong looks of all", limit: 3000, window: .seconds(3600))

  /// Runs `find` for a user who wants to join by a code. The attempt is counted before the lookup, so that concurrent
  /// attempts cannot exceed the limit, and given back when something is found.
  ///
  /// - Throws: 429.
  func limited<Found: Sendable>(
    by requester: Requester, at now: Date, find: @escaping @Sendable (any Connection) throws -> Found?
  ) async throws -> Found? {
    @Sendable func attempt(isProven: Bool, _ db: any Connection) throws -> Found? {
      let attempts = LimitedAttempts(
        quotas: quotas, own: .init(Self.perUser, requester.user.description),
        others: [.init(Self.perAddress, requester.clientAddress)], total: .init(Self.total, ""))
      return try attempts.limited(isFirstFree: isProven, at: now, on: db, find: find)
    }
    do {
      return try await database.write { try attempt(isProven: false, $0) }
    } catch let exceeded as LimitedAttempts.TotalExceeded {
      // Auth is called only when the total is exceeded.
      guard await isProven(requester.user) else { throw exceeded.refusal }
    }
    return try await database.write { try attempt(isProven: true, $0) }
  }

  /// Whether the user has verified an e-mail address or phone number. False also while auth does not answer.
  private func isProven(_ user: UserID) async -> Bool {
    do { return try await users.people([user])[user]?.isProven ?? false } catch { return false }
  }

  /// The same for a lookup without a signed-in user, which shows a preview.
  ///
  /// - Throws: 429; the transaction must roll back then. For nil it must commit, else the attempt does not count.
  func limited<Found>(
    from clientAddress: String, at now: Date, on db: any Connection, find: () throws -> Found?
  ) throws -> Found? {
    let attempts = LimitedAttempts(
      quotas: quotas, own: .init(Self.lookupsPerAddress, clientAddress),
      // One client often has thousands of IPv6 /64 networks, each of which would have a free first lookup.
      others: [.init(Self.lookupsPerNetwork, Self.network(of: clientAddress))], total: .init(Self.lookupsTotal, ""))
    return try attempts.limited(isFirstFree: true, at: now, on: db) { _ in try find() }
  }

  /// The /24 of an IPv4 address, or the /48 of an IPv6 network, in the format of `Request.clientAddress`: four numbers,
  /// or the first four of eight groups.
  static func network(of clientAddress: String) -> String {
    for separator: Character in [".", ":"] {
      let parts = clientAddress.split(separator: separator)
      if parts.count == 4 { return parts.prefix(3).joined(separator: String(separator)) }
    }
    return clientAddress
  }
}
