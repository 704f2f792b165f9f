import Foundation
import Logging
import Web

/// Deletes what was reported about purchases that nobody has claimed for half a year: as long as the App Store itself
/// keeps notifications.
struct AppleReportSweep: PeriodicSweep {
  private let purchases: ApplePurchases
  private let now: @Sendable () -> Date
  let interval = Duration.seconds(3600)
  let logger: Logger
  let failureMessage: Logger.Message = "old reports about unclaimed purchases were not deleted"

  static let keptSeconds = 180 * 86_400.0

  init(_ purchases: ApplePurchases, in dependencies: Dependencies) {
    self.purchases = purchases
    self.now = dependencies.now
    self.logger = dependencies.logger
  }

  func deleteBatch(limit: Int) async throws -> Int {
    let before = now() - Self.keptSeconds
    let due = try await purchases.store.database.read { db in
      try AppleOwnerStore.originals(withReportsBefore: before, limit: limit, on: db)
    }
    for original in Set(due) { try await purchases.deleteReports(of: original, before: before) }
    return due.count
  }
}
