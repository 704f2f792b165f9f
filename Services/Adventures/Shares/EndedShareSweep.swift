import Database
import Foundation
import Logging
import Web

/// Deletes shares a month after their end: where people have been is kept no longer than it is of use to them, and the
/// shares of an owner have a bound. Only the owner still had the row.
struct EndedShareSweep: PeriodicSweep {
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  let interval = Duration.seconds(600)
  let failureMessage: Logger.Message = "ended shares not swept"

  static let keptSeconds = 30 * 86_400.0

  func deleteBatch(limit: Int) async throws -> Int {
    let now = now()
    return try await database.write { db in
      let deleted = try ShareStore.deleteEnded(before: now - Self.keptSeconds, limit: limit, on: db)
      for share in deleted { ShareEvents.swept(share.key, of: share.owner, at: now, on: db) }
      return deleted.count
    }
  }
}
