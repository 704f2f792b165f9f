import Database
import Foundation
import Wire

/// Leaving, removing members, transferring ownership, and closing a group.
extension MembershipStore {
  /// When the owner leaves, the longest-standing member becomes the owner. When the last member leaves, the group is
  /// closed.
  ///
  /// - Throws: 404 when the user is not in the group.
  func leave(_ id: GroupID, _ user: UserID, at now: Date) async throws {
    defer { membershipsEnded() }
    try await database.write { db in try leave(id, user, at: now, on: db) }
  }

  /// To be called after a transaction that has ended memberships.
  func membershipsEnded() {
    photoAccess.invalidate()
    changes?.wakeUp()
  }

  /// The same within a transaction, after which ``membershipsEnded()`` is to be called.
  func leave(_ id: GroupID, _ user: UserID, at now: Date, on db: any Connection) throws {
    guard let group = try GroupStore.lock(id, on: db), let role = try Self.activeRole(of: user, in: id, on: db) else {
      throw Failure.groupNotFound
    }
    try end(user, role, in: group, at: now, on: db)
  }

  /// Removes a member.
  ///
  /// - Throws: 404 when the caller is not in the group, 403 when the caller is not its owner, 404 `member_not_found`.
  func remove(_ user: UserID, from id: GroupID, by owner: UserID, at now: Date) async throws {
    defer { membershipsEnded() }
    try await database.write { db in try remove(user, from: id, by: owner, at: now, on: db) }
  }

  /// The same within a transaction, after which ``membershipsEnded()`` is to be called.
  func remove(
    _ user: UserID, from id: GroupID, by owner: UserID, at now: Date, on db: any Connection
  ) throws {
    let group = try Self.lock(id, by: owner, on: db)
    guard let role = try Self.activeRole(of: user, in: id, on: db) else { throw Failure.memberNotFound }
    try end(user, role, in: group, removedBy: user == owner ? nil : owner, at: now, on: db)
  }

  /// Makes another member the owner.
  ///
  /// - Throws: 404 when the caller is not in the group, 403 when the caller is not its owner, 404 `member_not_found`
  ///   when the new owner is not in the group.
  func transferOwnership(of id: GroupID, to newOwner: UserID, by owner: UserID, at now: Date) async throws {
    try await database.write { db in
      try Self.lock(id, by: owner, on: db)
      try Self.setOwner(newOwner, of: id, at: now, on: db)
    }
  }

  /// Ends all memberships; nobody can see the group or its photos afterwards.
  ///
  /// - Throws: 404 when the caller is not in the group, 403 when the caller is not its owner.
  func close(_ id: GroupID, by owner: UserID, at now: Date) async throws {
    defer { membershipsEnded() }
    try await database.write { db in try close(Self.lock(id, by: owner, on: db), at: now, on: db) }
  }

  /// The same within a transaction that holds the group's lock, after which ``membershipsEnded()`` is to be called.
  func close(_ group: Group, at now: Date, on db: any Connection) throws {
    if group.isLimited {
      try db.change(
        """
        update person set group_count = group_count - 1
        where user_id in (select user_id from membership where group_id = \(group.id) and state = 'active')
        """)
    }
    try close(group.id, at: now, on: db)
  }

  /// Takes the group's lock for its owner.
  @discardableResult
  private static func lock(_ id: GroupID, by owner: UserID, on db: any Connection) throws -> Group {
    guard let group = try GroupStore.lock(id, on: db), let role = try activeRole(of: owner, in: id, on: db) else {
      throw Failure.groupNotFound
    }
    guard role == .owner else { throw Failure.notGroupOwner }
    return group
  }

  /// Ends a membership, and finds a new owner or closes the group where that is necessary.
  private func end(
    _ user: UserID, _ role: GroupRole, in group: Group, removedBy remover: UserID? = nil, at now: Date,
    on db: any Connection
  ) throws {
    if group.isLimited {
      try db.change("update person set group_count = group_count - 1 where user_id = \(user)")
    }
    if group.memberCount == 1 { return try close(group.id, at: now, on: db) }
    let row = try db.row(
      """
      update membership set state = \(remover == nil ? "left" : "removed"), role = 'member', left_at = \(now),
        removed_by = \(remover)
      where group_id = \(group.id) and user_id = \(user) returning id
      """)
    let left = try db.row(
      """
      update social_group set member_count = member_count - 1, updated_at = \(now) where id = \(group.id)
      returning \(groupColumns)
      """
    ).map(Group.init)
    guard let left else { throw DatabaseFailure.contended }
    GroupEvents.left(user, left, as: try row?.get("id"), removedBy: remover, at: now, on: db)
    try changes?.add([user], of: group.id, at: now, on: db)
    if role == .owner { try Self.setLongestStandingOwner(of: group.id, at: now, on: db) }
  }

  private static func setOwner(_ newOwner: UserID, of id: GroupID, at now: Date, on db: any Connection) throws {
    try db.change("update membership set role = 'member' where group_id = \(id) and role = 'owner'")
    let changed = try db.change(
      "update membership set role = 'owner' where group_id = \(id) and user_id = \(newOwner) and state = 'active'")
    guard changed == 1 else { throw Failure.memberNotFound }
    let group = try db.row(
      "update social_group set updated_at = \(now) where id = \(id) returning \(groupColumns)"
    ).map(Group.init)
    GroupEvents.ownerChanged(id, to: newOwner, group, at: now, on: db)
  }

  private static func setLongestStandingOwner(of id: GroupID, at now: Date, on db: any Connection) throws {
    let row = try db.row(
      """
      update membership set role = 'owner' where group_id = \(id) and user_id = (
        select user_id from membership where group_id = \(id) and state = 'active'
        order by joined_at, user_id limit 1) returning user_id
      """)
    guard let owner: UserID = try row?.get("user_id") else { throw DatabaseFailure.contended }
    GroupEvents.ownerChanged(id, to: owner, at: now, on: db)
  }

  /// The row of a closed group is kept for as long as photos refer to it (``PhotoSweep``), without name, description,
  /// and users.
  private func close(_ id: GroupID, at now: Date, on db: any Connection) throws {
    let members = try db.rows("delete from membership where group_id = \(id) returning user_id, state")
      .filter { try $0.get("state") == "active" }.map { try $0.get("user_id", as: UserID.self) }
    GroupEvents.closed(id, at: now, on: db)
    try changes?.add(members, of: id, at: now, on: db)
    try db.change(
      """
      update social_group set member_count = 0, closed_at = \(now), updated_at = \(now), name = '', description = null,
        created_by = null
      where id = \(id)
      """)
    try PhotoStore.endAll(in: id, at: now, on: db)
  }
}
