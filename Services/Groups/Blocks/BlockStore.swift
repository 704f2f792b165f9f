import Database
import Foundation
import Wire

/// Every statement on who has blocked whom. A block holds in both directions.
struct BlockStore: Sendable {
  let database: any Database

  /// Safe to repeat.
  static func block(_ blocked: UserID, by blocker: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into block (blocker_id, blocked_id, created_at) values (\(blocker), \(blocked), \(now))
      on conflict (blocker_id, blocked_id) do nothing
      """)
  }

  /// Only one's own; safe to repeat.
  func unblock(_ blocked: UserID, by blocker: UserID) async throws {
    try await database.write { db in
      try db.change("delete from block where blocker_id = \(blocker) and blocked_id = \(blocked)")
    }
  }

  /// Whether one of the two has blocked the other.
  static func areApart(_ one: UserID, _ other: UserID, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select 1 as found from block where (blocker_id = \(one) and blocked_id = \(other))
        or (blocker_id = \(other) and blocked_id = \(one))
      """) != nil
  }

  /// Who has blocked the user, and whom the user has blocked.
  static func apart(from user: UserID, on db: any Connection) throws -> Set<UserID> {
    let rows = try db.rows(
      """
      select blocked_id as other from block where blocker_id = \(user)
      union select blocker_id as other from block where blocked_id = \(user)
      """)
    return Set(try rows.map { try $0.get("other", as: UserID.self) })
  }

  /// A condition for queries over `photo` and a `viewer` (a row of `membership`): its sender and who looks at it have
  /// nothing to do with each other.
  static let keepsPhotoFromViewer: SQL = """
    exists (select 1 from block where (blocker_id = photo.sender_id and blocked_id = viewer.user_id)
      or (blocker_id = viewer.user_id and blocked_id = photo.sender_id))
    """
}
