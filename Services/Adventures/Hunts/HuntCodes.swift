import Database
import Foundation
import Logging
import Quotas
import Web
import Wire

/// Finds hunts by their codes. Wrong codes are limited per caller and in all.
struct HuntCodes: Sendable {
  let database: any Database
  let quotas: QuotaStore

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
    return try await database.write { [quotas] db in
      try quotas.take(Self.perUser, for: user.description, at: now, on: db)
      // Beyond the total, the first wrong code of each caller is still free: others must not lock everybody out.
      if try quotas.taken(Self.perUser, for: user.description, on: db) == 1 {
        try quotas.count(Self.total, for: "", at: now, on: db)
      } else {
        try quotas.take(Self.total, for: "", at: now, on: db)
      }
      guard code.utf8.count <= Self.lengthMax, !code.utf8.contains(0),
        let row = try db.row("select id, created_by from hunt where invite_code = \(code)")
      else { return nil }
      try quotas.giveBack(Self.perUser, for: user.description, on: db)
      try quotas.giveBack(Self.total, for: "", on: db)
      return (try row.get("id"), try row.get("created_by"))
    }
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
