import Database
import Foundation
import Logging
import Web

/// Removes what the log need not keep: events older than a day, and of each topic all but the last 10,000. Only
/// beginnings are removed, so that what remains of a topic has no holes.
struct LogSweep: PeriodicSweep {
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  var interval = Duration.seconds(60)
  var entriesMax = 10_000
  let failureMessage: Logger.Message = "old events were not deleted"

  static let lifetime: TimeInterval = 86_400

  func deleteBatch(limit: Int) async throws -> Int {
    let surplus = try await deleteSurplus(limit: limit)
    return max(surplus, try await deleteOld(limit: limit))
  }

  private func deleteSurplus(limit: Int) async throws -> Int {
    try await database.write { [entriesMax] db in
      try db.change(
        """
        delete from topic_event where (topic, seq) in (
          select topic_event.topic, topic_event.seq from topic
          join topic_event on topic_event.topic = topic.name and topic_event.seq <= topic.seq - \(entriesMax)
          where topic.seq > \(entriesMax) limit \(limit))
        """)
    }
  }

  /// By position and not by time, as the clocks of replicas differ.
  private func deleteOld(limit: Int) async throws -> Int {
    let before = now() - Self.lifetime
    return try await database.write { db in
      let newest: SQL = """
        select position from event where stored_at < \(before) order by stored_at desc limit 1
        """
      guard let end = try db.row(newest)?.get("position", as: Int.self),
        let first = try db.row("select min(position) as position from event")?.get("position", as: Int.self)
      else { return 0 }
      let last = min(end, first + limit - 1)
      try db.change("delete from topic_event where position <= \(last)")
      return try db.change("delete from event where position <= \(last)")
    }
  }
}
