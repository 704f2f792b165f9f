import Database
import Foundation
import Logging
import Quotas
import Web

/// Deletes quota counters that began more than a day ago, every ten minutes.
struct ContactQuotaSweep: PeriodicSweep {
  let database: any Database
  let quotas: QuotaStore
  let interval = Duration.seconds(600)
  let logger: Logger
  let failureMessage: Logger.Message = "quotas not swept"
  let now: @Sendable () -> Date

  func deleteBatch(limit: Int) async throws -> Int {
    let now = now()
    return try await database.write { [quotas] db in try quotas.sweep(at: now, limit: limit, on: db) }
  }
}
