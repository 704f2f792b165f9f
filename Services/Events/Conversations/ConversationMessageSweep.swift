import Database
import Foundation
import Logging
import Web

/// Deletes the messages that were too long for a notification, which other replicas have read at once.
struct ConversationMessageSweep: PeriodicSweep {
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  var interval = Duration.seconds(60)
  let failureMessage: Logger.Message = "long messages were not deleted"

  private static let lifetime: TimeInterval = 60

  func deleteBatch(limit: Int) async throws -> Int {
    let before = now() - Self.lifetime
    return try await database.write { db in
      try db.change(
        """
        delete from conversation_message where id in (
          select id from conversation_message where created_at < \(before) order by created_at limit \(limit))
        """)
    }
  }
}
