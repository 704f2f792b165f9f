import Database
import Foundation
import Wire

/// The SQL statements on memberships. Every change first takes the group's lock (``GroupStore/lock(_:on:)``), so that
/// what it has read about the group stays valid, and then updates the users' own rows.
///
/// The row of an ended membership stays: its state decides who can be added, and which invites have lapsed.
struct MembershipStore: Sendable {
  let database: any Database
  let photoAccess: PhotoAccessCache
  /// nil where nobody needs to be told who joins and leaves.
  var changes: MembershipOutbox?

  /// The user's role and state in the group, for other services.
  ///
  /// - Throws: 404 when there is no such group.
  func membership(of user: UserID, in id: GroupID) async throws -> GroupMembership {
    try await database.read { db in
      guard let group = try GroupStore.find(id, on: db) else { throw Failure.groupNotFound }
      let row = try db.row("select role, state from membership where group_id = \(id) and user_id = \(user)")
      return GroupMembership(
        groupID: id, groupName: group.name, role: try row?.enumValue("role"),
        isActive: try row?.get("state") == "active", seatsLeft: group.memberCountMax - group.memberCount)
    }
  }

  /// The groups that the user is in, and whom blocks keep apart from the user, for other services; of more than they
  /// take, the first.
  func member(_ user: UserID) async throws -> MemberOfGroups {
    try await database.readOnce { db in
      let found = try db.rows(of: [
        """
        select group_id from membership where user_id = \(user) and state = 'active'
        order by group_id limit \(MemberOfGroups.groupsMax)
        """,
        """
        select blocked_id as other from block where blocker_id = \(user)
        union select blocker_id as other from block where blocked_id = \(user)
        order by other limit \(MemberOfGroups.blockedMax)
        """,
      ])
      return MemberOfGroups(
        groups: try found[0].map { try $0.get("group_id") }, blocked: try found[1].map { try $0.get("other") })
    }
  }

  /// Adds those of `users` who can be added, and returns them. The caller holds the group's lock, or has just created
  /// the group.
  ///
  /// - Throws: 400 `group_full` when there are not enough seats; the transaction must then roll back.
  static func add(
    _ users: Set<UserID>, to group: Group, by adder: UserID, at now: Date, on db: any Connection
  ) throws -> [UserID] {
    let present = Set(
      try db.rows("select user_id from membership where group_id = \(group.id) and state = 'active'")
        .map { try $0.get("user_id", as: UserID.self) })
    let missing = users.subtracting(present).subtracting(try departed(users, from: group.id, for: adder, on: db))
    guard group.memberCount + missing.count <= group.memberCountMax else { throw Failure.groupFull }
    let blocked = try BlockStore.blockedEitherWay(with: adder, on: db)
    var added: [UserID] = []
    // In a fixed order, so that two transactions that add the same users cannot deadlock.
    for user in missing.subtracting(blocked).sorted(by: { $0.description < $1.description }) {
      guard try reserveGroup(of: user, isLimited: group.isLimited, on: db) else { continue }
      try insert(user, into: group.id, addedBy: adder, at: now, on: db)
      added.append(user)
    }
    return added
  }

  /// Those of `users` who have left or were removed: a member cannot add them, only invite them. Left out are users
  /// whom `adder` removed as the owner, who can be added again, and users between whom and `adder` there is a block.
  static func departed(
    _ users: Set<UserID>, from id: GroupID, for adder: UserID, on db: any Connection
  ) throws -> Set<UserID> {
    let isOwner = try activeRole(of: adder, in: id, on: db) == .owner
    let rows = try db.rows(
      """
      select user_id from membership
      where group_id = \(id) and user_id in (\(list: users.sorted { $0.description < $1.description }))
        and (state = 'left' or state = 'removed' and (removed_by is null or removed_by <> \(adder) or not \(isOwner)))
      """)
    return Set(try rows.map { try $0.get("user_id") }).subtracting(try BlockStore.blockedEitherWay(with: adder, on: db))
  }

  /// The same, in a transaction of its own.
  ///
  /// - Throws: 403 when `adder` is not an active member.
  func departed(_ users: Set<UserID>, from id: GroupID, for adder: UserID) async throws -> Set<UserID> {
    try await database.read { db in
      guard try Self.activeRole(of: adder, in: id, on: db) != nil else { throw Failure.notInGroup }
      return try Self.departed(users, from: id, for: adder, on: db)
    }
  }

  /// The role of an active member; nil when the user is not one.
  static func activeRole(of user: UserID, in id: GroupID, on db: any Connection) throws -> GroupRole? {
    try db.row(
      "select role from membership where group_id = \(id) and user_id = \(user) and state = 'active'"
    )?.enumValue("role")
  }

  static func owner(of id: GroupID, on db: any Connection) throws -> UserID? {
    try db.row("select user_id from membership where group_id = \(id) and role = 'owner'")?.get("user_id")
  }

  /// The active member with this id.
  static func member(_ id: MembershipID, on db: any Connection) throws -> (group: GroupID, user: UserID)? {
    try db.row("select group_id, user_id from membership where id = \(id) and state = 'active'")
      .map { (try $0.get("group_id"), try $0.get("user_id")) }
  }

  /// Makes room for a group among those of the user; false when the user is in the largest allowed number. A group without
  /// limits is not counted there: all of the user's groups are, under the lock of the user's row, for which concurrent
  /// transactions wait.
  static func reserveGroup(of user: UserID, isLimited: Bool, on db: any Connection) throws -> Bool {
    let step = isLimited ? 1 : 0
    let isCounted =
      try db.change(
        """
        insert into person (user_id, group_count, group_count_max) values (\(user), \(step), \(Group.groupCountMax))
        on conflict (user_id) do update set group_count = person.group_count + excluded.group_count
          where person.group_count + excluded.group_count <= person.group_count_max
        """) == 1
    guard isCounted, !isLimited else { return isCounted }
    let row = try db.row("select count(*) as count from membership where user_id = \(user) and state = 'active'")
    return try row?.get("count", as: Int.self) ?? 0 < Group.groupCountOfBothKindsMax
  }

  /// Makes the user an active member. A user who comes back after leaving counts as the newest member.
  ///
  /// - Parameter adder: who has added them; nil for a user who joins by themselves.
  static func insert(
    _ user: UserID, into id: GroupID, as member: MembershipID? = nil, addedBy adder: UserID? = nil, at now: Date,
    on db: any Connection
  ) throws {
    let member = member ?? .new(at: now)
    let inserted = try db.change(
      """
      insert into membership (id, group_id, user_id, role, state, joined_at)
      values (\(member), \(id), \(user), 'member', 'active', \(now))
      on conflict (group_id, user_id) do update set id = excluded.id, state = 'active',
        joined_at = excluded.joined_at, left_at = null, removed_by = null
        where membership.state <> 'active'
      """)
    let group = try db.row(
      """
      update social_group set member_count = member_count + 1, updated_at = \(now)
      where id = \(id) and member_count < member_count_max returning \(groupColumns)
      """
    ).map(Group.init)
    guard inserted == 1, let group else { throw DatabaseFailure.contended }
    GroupEvents.joined(user, group, as: member, addedBy: adder, at: now, on: db)
  }
}
