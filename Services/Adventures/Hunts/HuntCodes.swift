import Clients
import Database
import Foundation
import Logging
import Quotas
import Web
import Wire

/// Finds hunts by their codes. Wrong codes are limited per caller and in all.
///
/// Beyond the total, which is spent by others, the first wrong code within the hour is still free for users who have
/// verified an e-mail address or phone number.
struct HuntCodes: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let users: UsersClient

  private static let perUser = Quota(name: "wrong hunt codes", limit: 10, window: .seconds(3600))
  private static let total = Quota(name: "wrong hunt codes of all", limit: 1000, window: .seconds(3600))
  /// More characters than any code has are not worth a statement.
  private static let lengthMax = 32

  /// The hunt with that code, in either case of letters. An attempt is counted before the lookup, so that concurrent
  /// ones cannot exceed the limit, and given back when a hunt is found.
  ///
  /// - Throws: 429.
  func hunt(of code: String, for user: UserID, at now: Date) async throws -> (id: String, createdBy: UserID)? {
    let code = code.trimmingCharacters(in: .whitespaces).uppercased()
    let attempts = LimitedAttempts(
      quotas: quotas, own: .init(Self.perUser, user.description), total: .init(Self.total, ""))
    @Sendable func attempt(isFirstFree: Bool, on db: any Connection) throws -> (id: String, createdBy: UserID)? {
      try attempts.limited(isFirstFree: isFirstFree, at: now, on: db) { db in try Self.find(code, on: db) }
    }
    do {
      return try await database.write { db in try attempt(isFirstFree: false, on: db) }
    } catch let exceeded as LimitedAttempts.TotalExceeded {
      // Auth is called only when the total is exceeded.
      guard await isProven(user) else { throw exceeded.refusal }
    }
    return try await database.write { db in try attempt(isFirstFree: true, on: db) }
  }

  private static func find(_ code: String, on db: any Connection) throws -> (id: String, createdBy: UserID)? {
    guard code.utf8.count <= lengthMax, !code.utf8.contains(0),
      let row = try db.row("select id, created_by from hunt where invite_code = \(code)")
    else { return nil }
    return (try row.get("id"), try row.get("created_by"))
  }

  /// Whether the user has verified an e-mail address or phone number. False also while auth does not answer.
  private func isProven(_ user: UserID) async -> Bool {
    do { return try await users.people([user])[user]?.isProven ?? false } catch { return false }
  }
}

/// Deletes the counts of wrong codes that are older than a day, every ten minutes.
struct HuntCodeSweep: PeriodicSweep {
  let codes: HuntCodes
  let logger: Logger
  let now: @Sendable () -> Date
  let interval = Duration.seconds(600)
  let failureMessage: Logger.Message = "counts of wrong codes not swept"

  func deleteBatch(limit: Int) async throws -> Int {
    let now = now()
    return try await codes.database.write { [quotas = codes.quotas] db in
      try quotas.sweep(at: now, limit: limit, on: db)
    }
  }
}
