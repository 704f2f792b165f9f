import Database
import Foundation
import Wire

/// The statements on active hunts whose `end_time` has passed. `end_told_for` is the end that was told: one that is
/// moved is told again.
enum HuntEndStore {
  private static let batchSize = 100
  /// Nobody is told of an end that is longer ago: the log of events reaches no further back.
  private static let toldSeconds = 86_400.0

  /// When the next hunt ends that was not told.
  static func nextEnd(at now: Date, on db: any Connection) throws -> Date? {
    try db.row(
      """
      select end_time from hunt where status = 'active' and end_time is not null and end_time > \(now - toldSeconds)
        and (end_told_for is null or end_told_for <> end_time)
      order by end_time limit 1
      """)?.get("end_time")
  }

  /// Writes down that hunts are over.
  ///
  /// - Returns: at most a batch.
  static func end(at now: Date, on db: any Connection) throws -> [(id: String, creator: UserID)] {
    try db.rows(
      """
      update hunt set end_told_for = end_time where id in (
        select id from hunt where status = 'active' and end_time is not null and end_time > \(now - toldSeconds)
          and end_time <= \(now) and (end_told_for is null or end_told_for <> end_time)
        order by end_time limit \(batchSize))
      and (end_told_for is null or end_told_for <> end_time) returning id, created_by
      """
    ).map { (try $0.get("id"), try $0.get("created_by")) }
  }
}
