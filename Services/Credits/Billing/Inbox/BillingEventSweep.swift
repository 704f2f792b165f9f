import Foundation
import Logging
import Web

/// Deletes billing events 30 days after they were done, ignored or parked.
struct BillingEventSweep: PeriodicSweep {
  private let store: BillingEventStore
  private let now: @Sendable () -> Date
  let interval = Duration.seconds(3600)
  let logger: Logger
  let failureMessage: Logger.Message = "old billing events were not deleted"

  static let keptSeconds = 30 * 86_400.0

  init(_ store: BillingEventStore, in dependencies: Dependencies) {
    self.store = store
    self.now = dependencies.now
    self.logger = dependencies.logger
  }

  func deleteBatch(limit: Int) async throws -> Int {
    try await store.sweep(before: now() - Self.keptSeconds, limit: limit)
  }
}
