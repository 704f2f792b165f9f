import Database
import Foundation
import Logging
import Web

/// Deletes shares a month after their end: where people have been is kept no longer than it is of use to them, and the
/// shares of an owner have a bound. It is no event, as nobody waits for what has ended so long ago.
struct EndedShareSweep: PeriodicSweep {
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  let interval = Duration.seconds(600)
  let failureMessage: Logger.Message = "ended shares not swept"

  static let keptSeconds = 30 * 86_400.0

  func deleteBatch(limit: Int) async throws -> Int {
    let end = now() - Self.keptSeconds
    return try await database.write { db in try ShareStore.deleteEnded(before: end, limit: limit, on: db) }
  }
}
