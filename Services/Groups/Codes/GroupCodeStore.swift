import Clients
import Database
import Foundation
import Quotas
import Wire

/// Looks groups up by their codes, and limits how often codes may be guessed: failed attempts count per user and in
/// total.
///
/// Beyond the total, which is spent by others, the first failed attempt within the hour is still free for users who
/// have verified an e-mail address or phone number.
struct GroupCodeStore: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let users: UsersClient

  private static let perUser = Quota(name: "wrong group codes", limit: 10, window: .seconds(3600))
  private static let total = Quota(name: "wrong group codes of all", limit: 300, window: .seconds(3600))

  /// Runs `find` in a transaction. The attempt is counted before, so that concurrent attempts cannot exceed the limit,
  /// and given back when something is found.
  ///
  /// - Throws: 429, and what `find` throws.
  func attempt<Found: Sendable>(
    by user: UserID, at now: Date, find: @escaping @Sendable (any Connection) throws -> Found?
  ) async throws -> Found? {
    let attempts = LimitedAttempts(
      quotas: quotas, own: .init(Self.perUser, user.description), total: .init(Self.total, ""))
    do {
      return try await database.write { try attempts.limited(isFirstFree: false, at: now, on: $0, find: find) }
    } catch let exceeded as LimitedAttempts.TotalExceeded {
      // Auth is called only when the total is exceeded.
      guard await isProven(user) else { throw exceeded.refusal }
      return try await database.write { try attempts.limited(isFirstFree: true, at: now, on: $0, find: find) }
    }
  }

  /// Whether the user has verified an e-mail address or phone number. False also while auth does not answer.
  private func isProven(_ user: UserID) async -> Bool {
    do { return try await users.people([user])[user]?.isProven ?? false } catch { return false }
  }

  /// The group of a code, for the page of an invite, whose service limits the attempts.
  ///
  /// - Throws: 404.
  func group(ofCode code: String) async throws -> GroupOfCode {
    try await database.read { db in
      guard let group = try GroupStore.find(code: code, on: db) else { throw Failure.groupNotFound }
      return GroupOfCode(
        groupID: group.id, groupName: group.name, owner: try MembershipStore.owner(of: group.id, on: db))
    }
  }
}
