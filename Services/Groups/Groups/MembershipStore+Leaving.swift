import Database
import Foundation
import Wire

/// How people go, and what becomes of the group then.
extension MembershipStore {
  /// The owner's place goes to the longest-standing member; the last one out closes the group.
  ///
  /// - Throws: 404 to who is not in the group.
  func leave(_ id: GroupID, _ user: UserID, at now: Date) async throws {
    defer { sights.end() }
    try await database.write { db in
      guard let group = try GroupStore.locked(id, on: db),
        let role = try Self.activeRole(of: user, in: id, on: db)
      else { throw Failure.groupNotFound }
      try Self.part(user, role, from: group, at: now, on: db)
    }
  }

  /// - Throws: 404 to who is not in the group, 403 unless the owner asks.
  func remove(_ user: UserID, from id: GroupID, by owner: UserID, at now: Date) async throws {
    defer { sights.end() }
    try await database.write { db in
      let group = try Self.locked(id, by: owner, on: db)
      guard let role = try Self.activeRole(of: user, in: id, on: db) else { throw Failure.memberNotFound }
      try Self.part(user, role, from: group, removedBy: user == owner ? nil : owner, at: now, on: db)
    }
  }

  /// - Throws: 404 to who is not in the group, 403 unless the owner asks, 404 `member_not_found` for an heir outside.
  func handOver(_ id: GroupID, to heir: UserID, by owner: UserID, at now: Date) async throws {
    try await database.write { db in
      _ = try Self.locked(id, by: owner, on: db)
      try Self.crown(heir, in: id, at: now, on: db)
    }
  }

  /// Everyone is out, and nothing of the group is to be seen any more.
  ///
  /// - Throws: 404 to who is not in the group, 403 unless the owner asks.
  func close(_ id: GroupID, by owner: UserID, at now: Date) async throws {
    defer { sights.end() }
    try await database.write { db in
      _ = try Self.locked(id, by: owner, on: db)
      try db.change(
        """
        update person set group_count = group_count - 1
        where user_id in (select user_id from membership where group_id = \(id) and state = 'active')
        """)
      try Self.close(id, at: now, on: db)
    }
  }

  private static func locked(_ id: GroupID, by owner: UserID, on db: any Connection) throws -> Group {
    guard let group = try GroupStore.locked(id, on: db), let role = try activeRole(of: owner, in: id, on: db) else {
      throw Failure.groupNotFound
    }
    guard role == .owner else { throw Failure.notGroupOwner }
    return group
  }

  private static func part(
    _ user: UserID, _ role: GroupRole, from group: Group, removedBy remover: UserID? = nil, at now: Date,
    on db: any Connection
  ) throws {
    try db.change("update person set group_count = group_count - 1 where user_id = \(user)")
    if group.memberCount == 1 { return try close(group.id, at: now, on: db) }
    try db.change(
      """
      update membership set state = \(remover == nil ? "left" : "removed"), role = 'member', left_at = \(now),
        removed_by = \(remover)
      where group_id = \(group.id) and user_id = \(user)
      """)
    try db.change(
      "update social_group set member_count = member_count - 1, updated_at = \(now) where id = \(group.id)")
    if role == .owner { try crownLongestStanding(in: group.id, on: db) }
  }

  private static func crown(_ heir: UserID, in id: GroupID, at now: Date, on db: any Connection) throws {
    try db.change("update membership set role = 'member' where group_id = \(id) and role = 'owner'")
    let crowned = try db.change(
      "update membership set role = 'owner' where group_id = \(id) and user_id = \(heir) and state = 'active'")
    guard crowned == 1 else { throw Failure.memberNotFound }
    try db.change("update social_group set updated_at = \(now) where id = \(id)")
  }

  private static func crownLongestStanding(in id: GroupID, on db: any Connection) throws {
    let crowned = try db.change(
      """
      update membership set role = 'owner' where group_id = \(id) and user_id = (
        select user_id from membership where group_id = \(id) and state = 'active'
        order by joined_at, user_id limit 1)
      """)
    guard crowned == 1 else { throw DatabaseFailure.contended }
  }

  /// A closed group keeps its row for as long as photos point to it (``PhotoSweep``), but neither words nor people.
  private static func close(_ id: GroupID, at now: Date, on db: any Connection) throws {
    try db.change("delete from membership where group_id = \(id)")
    try db.change(
      """
      update social_group set member_count = 0, closed_at = \(now), updated_at = \(now), name = '', description = null,
        created_by = null
      where id = \(id)
      """)
    try EndedPhotos.end(of: id, at: now, on: db)
  }
}
