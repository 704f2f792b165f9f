import Database
import Foundation
import Support
import Testing
import Tokens
import Web

@testable import Credits

/// Runs the sweep of billing events at another time.
struct BillingSweepProbe {
  let database: any Database

  /// Returns how many events were deleted.
  func sweep(at time: Date) async throws -> Int {
    let keys = try #require(DataKeys(["any key, as the sweep decrypts nothing"]))
    let dependencies = Dependencies(Settings([:]), logger: quiet, now: { time })
    return try await BillingEventSweep(BillingEventStore(database: database, keys: keys), in: dependencies)
      .deleteBatch(limit: 100)
  }
}
