import Database
import Foundation
import Wire

/// The SQL statements on blocks. A block has the same effects for both users.
struct BlockStore: Sendable {
  let database: any Database

  /// Safe to repeat.
  ///
  /// - Returns: whether the block is new.
  static func block(_ blocked: UserID, by blocker: UserID, at now: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      insert into block (blocker_id, blocked_id, created_at) values (\(blocker), \(blocked), \(now))
      on conflict (blocker_id, blocked_id) do nothing
      """) == 1
  }

  /// Deletes only a block that `blocker` has made. Safe to repeat.
  func unblock(_ blocked: UserID, by blocker: UserID, _ outbox: BlockOutbox, at now: Date) async throws {
    try await database.write { db in
      let deleted = try db.change("delete from block where blocker_id = \(blocker) and blocked_id = \(blocked)")
      if deleted == 1 { try outbox.add(between: blocker, and: blocked, at: now, on: db) }
    }
    outbox.wakeUp()
  }

  /// Whether one of the two users has blocked the other.
  static func exists(between one: UserID, and other: UserID, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select 1 as found from block where (blocker_id = \(one) and blocked_id = \(other))
        or (blocker_id = \(other) and blocked_id = \(one))
      """) != nil
  }

  /// The active members of a group between whom and the user there is a block.
  static func members(of group: GroupID, blockedWith user: UserID, on db: any Connection) throws -> Set<UserID> {
    Set(try db.rows(membersQuery(of: group, blockedWith: user)).map { try $0.get("user_id", as: UserID.self) })
  }

  static func membersQuery(of group: GroupID, blockedWith user: UserID) -> SQL {
    """
    select m.user_id from block join membership m on m.user_id = block.blocked_id
    where block.blocker_id = \(user) and m.group_id = \(group) and m.state = 'active'
    union
    select m.user_id from block join membership m on m.user_id = block.blocker_id
    where block.blocked_id = \(user) and m.group_id = \(group) and m.state = 'active'
    """
  }

  /// All users whom the user has blocked, or who have blocked the user.
  static func blockedEitherWay(with user: UserID, on db: any Connection) throws -> Set<UserID> {
    let rows = try db.rows(
      """
      select blocked_id as other from block where blocker_id = \(user)
      union select blocker_id as other from block where blocked_id = \(user)
      """)
    return Set(try rows.map { try $0.get("other", as: UserID.self) })
  }

  /// A condition for queries over `photo` and `viewer` (a row of `membership`): there is a block between the sender of
  /// the photo and the viewer.
  static let existsBetweenSenderAndViewer: SQL = """
    exists (select 1 from block where (blocker_id = photo.sender_id and blocked_id = viewer.user_id)
      or (blocker_id = viewer.user_id and blocked_id = photo.sender_id))
    """
}
