import Database
import Foundation
import Wire

/// Who is in which group. Every change holds the group's lock (``GroupStore/locked(_:on:)``), so that what it reads of
/// the group stays true; then come the people's own rows.
struct MembershipStore: Sendable {
  let database: any Database
  let sights: PhotoSights

  /// - Throws: 404 when there is no such group.
  func standing(of user: UserID, in id: GroupID) async throws -> GroupStanding {
    try await database.read { db in
      guard let group = try GroupStore.open(id, on: db) else { throw Failure.groupNotFound }
      let row = try db.row("select role, state from membership where group_id = \(id) and user_id = \(user)")
      return GroupStanding(
        groupID: id, groupName: group.name, role: try row?.role(), isActive: try row?.get("state") == "active",
        seatsLeft: group.memberCountMax - group.memberCount)
    }
  }

  /// Lets the user in once for each claim; asked again, it tells what became of it and does nothing more.
  ///
  /// - Throws: 404 when there is no such group.
  func join(_ user: UserID, _ id: GroupID, by join: JoinByInvite, at now: Date) async throws -> JoinedGroup {
    try await database.write { db in
      guard let group = try GroupStore.locked(id, on: db) else { throw Failure.groupNotFound }
      let outcome = try Self.join(user, group, by: join, at: now, on: db)
      return JoinedGroup(outcome: outcome, groupID: id, groupName: group.name)
    }
  }

  private static func join(
    _ user: UserID, _ group: Group, by join: JoinByInvite, at now: Date, on db: any Connection
  ) throws -> JoinOutcome {
    if try InviteUses.has(join, letIn: user, on: db) { return .joined }
    if try activeRole(of: user, in: group.id, on: db) != nil { return .alreadyMember }
    if let refusal = try refusal(of: user, group.id, by: join, on: db) { return refusal }
    guard group.memberCount < group.memberCountMax else { return .full }
    guard try takePlace(for: user, on: db) else { return .tooManyGroups }
    try seat(user, in: group.id, at: now, on: db)
    try InviteUses.note(join, letIn: user, at: now, on: db)
    return .joined
  }

  /// Whose coming in would undo what a member has decided.
  private static func refusal(
    of user: UserID, _ id: GroupID, by join: JoinByInvite, on db: any Connection
  ) throws -> JoinOutcome? {
    if let inviter = join.invitedBy, try BlockStore.areApart(user, inviter, on: db) { return .blocked }
    guard let madeAt = join.madeAt else { return nil }
    if try wasRemoved(user, from: id, since: madeAt, on: db) { return .removed }
    return try hasLapsed(join, to: id, on: db) ? .lapsed : nil
  }

  private static func wasRemoved(
    _ user: UserID, from id: GroupID, since date: Date, on db: any Connection
  ) throws -> Bool {
    let removal = try db.row(
      """
      select left_at from membership
      where group_id = \(id) and user_id = \(user) and state = 'removed' and left_at >= \(date)
      """)
    return removal != nil
  }

  /// A link ends with its maker's membership. What somebody was texted stays good, unless its maker was removed.
  private static func hasLapsed(_ join: JoinByInvite, to id: GroupID, on db: any Connection) throws -> Bool {
    guard let inviter = join.invitedBy else { return false }
    let row = try db.row("select state from membership where group_id = \(id) and user_id = \(inviter)")
    switch try row?.get("state", as: String.self) {
    case "active": return false
    case "removed": return true
    default: return join.isLink ?? false
    }
  }

  /// Adds those of `users` who can be added. The caller has the group's lock, or has just made it.
  ///
  /// - Throws: 400 `group_full` when there are not enough seats; the transaction must then roll back.
  static func add(
    _ users: Set<UserID>, to group: Group, by adder: UserID, at now: Date, on db: any Connection
  ) throws -> [UserID] {
    let there = Set(
      try db.rows("select user_id from membership where group_id = \(group.id) and state = 'active'")
        .map { try $0.get("user_id", as: UserID.self) })
    let missing = users.subtracting(there).subtracting(try departed(users, from: group.id, for: adder, on: db))
    guard group.memberCount + missing.count <= group.memberCountMax else { throw Failure.groupFull }
    let apart = try BlockStore.apart(from: adder, on: db)
    var added: [UserID] = []
    // In one order for everybody, so that two who add the same people do not wait for each other.
    for user in missing.subtracting(apart).sorted(by: { $0.description < $1.description }) {
      guard try takePlace(for: user, on: db) else { continue }
      try seat(user, in: group.id, at: now, on: db)
      added.append(user)
    }
    return added
  }

  /// Those of `users` who have left or were removed, whom nobody puts back: they are asked. The owner may undo their own
  /// removal. Who has blocked or is blocked by whoever asks is left out.
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
    return Set(try rows.map { try $0.get("user_id") }).subtracting(try BlockStore.apart(from: adder, on: db))
  }

  /// The same, for whoever is in the group.
  ///
  /// - Throws: 403 when whoever asks is not.
  func departed(_ users: Set<UserID>, from id: GroupID, for adder: UserID) async throws -> Set<UserID> {
    try await database.read { db in
      guard try Self.activeRole(of: adder, in: id, on: db) != nil else { throw Failure.notInGroup }
      return try Self.departed(users, from: id, for: adder, on: db)
    }
  }

  /// What an active member is in the group; nil for everyone else.
  static func activeRole(of user: UserID, in id: GroupID, on db: any Connection) throws -> GroupRole? {
    try db.row("select role from membership where group_id = \(id) and user_id = \(user) and state = 'active'")?.role()
  }

  /// Counts one more group for the user; false when there are as many as anyone may have. Two at once wait here for each
  /// other.
  static func takePlace(for user: UserID, on db: any Connection) throws -> Bool {
    try db.change(
      """
      insert into person (user_id, group_count, group_count_max) values (\(user), 1, \(Group.groupCountMax))
      on conflict (user_id) do update set group_count = person.group_count + 1
        where person.group_count < person.group_count_max
      """) == 1
  }

  /// Who comes back after having left is the newest member again.
  private static func seat(_ user: UserID, in id: GroupID, at now: Date, on db: any Connection) throws {
    let seated = try db.change(
      """
      insert into membership (group_id, user_id, role, state, joined_at)
      values (\(id), \(user), 'member', 'active', \(now))
      on conflict (group_id, user_id) do update set state = 'active', joined_at = excluded.joined_at, left_at = null,
        removed_by = null
        where membership.state <> 'active'
      """)
    let counted = try db.change(
      """
      update social_group set member_count = member_count + 1, updated_at = \(now)
      where id = \(id) and member_count < member_count_max
      """)
    guard seated == 1, counted == 1 else { throw DatabaseFailure.contended }
  }
}

extension Row {
  func role() throws -> GroupRole {
    guard let role = GroupRole(rawValue: try get("role")) else { throw DatabaseFailure.unreadable(column: "role") }
    return role
  }
}
