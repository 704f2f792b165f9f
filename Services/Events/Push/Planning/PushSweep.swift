import Database
import Foundation
import Logging
import Web

/// Removes devices whose sessions were ended an hour ago, and what is known of alerts that are past.
struct PushSweep: PeriodicSweep {
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  let interval = Duration.seconds(600)
  let failureMessage: Logger.Message = "old alerts were not deleted"

  func deleteBatch(limit: Int) async throws -> Int {
    let now = now()
    return try await database.write { db in try AlertStore.sweep(at: now, limit: limit, on: db) }
  }
}
