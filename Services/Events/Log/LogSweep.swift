import Database
import Foundation
import Logging
import Web

/// Removes events that are older than a day, beginning with the oldest, so that what remains of a topic has no holes.
struct LogSweep: PeriodicSweep {
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  var interval = Duration.seconds(60)
  let failureMessage: Logger.Message = "old events were not deleted"

  static let lifetime: TimeInterval = 86_400

  func deleteBatch(limit: Int) async throws -> Int {
    let before = now() - Self.lifetime
    return try await database.write { db in
      let old = try db.rows("select position, stored_at from event order by position limit \(limit)")
        .map { (position: try $0.get("position", as: Int.self), storedAt: try $0.get("stored_at", as: Date.self)) }
        .prefix { $0.storedAt < before }
      guard let last = old.last?.position else { return 0 }
      try db.change("delete from topic_event where position <= \(last)")
      try db.change("delete from topic_grant where position <= \(last)")
      return try db.change("delete from event where position <= \(last)")
    }
  }
}
