import Database
import Foundation
import Memberships
import Wire

/// Joining a group by an invite.
extension MembershipStore {
  /// Adds the user once per claim. Safe to repeat: a second call with the same claim returns `joined` and changes
  /// nothing, even after the user has left.
  ///
  /// - Throws: 404 when there is no such group.
  func join(_ user: UserID, _ id: GroupID, by join: JoinByInvite, at now: Date) async throws -> JoinedGroup {
    defer { changes?.wakeUp() }
    return try await database.write { db in
      guard let group = try GroupStore.lock(id, on: db) else { throw Failure.groupNotFound }
      let outcome = try Self.join(user, group, by: join, at: now, on: db)
      if outcome == .joined { try changes?.add([user], of: id, at: now, on: db) }
      return JoinedGroup(outcome: outcome, groupID: id, groupName: group.name)
    }
  }

  private static func join(
    _ user: UserID, _ group: Group, by join: JoinByInvite, at now: Date, on db: any Connection
  ) throws -> JoinOutcome {
    if try InviteUseStore.hasJoined(user, by: join, on: db) { return .joined }
    if try activeRole(of: user, in: group.id, on: db) != nil { return .alreadyMember }
    if let refusal = try refusal(of: user, group.id, by: join, on: db) { return refusal }
    let outcome = try addIfThereIsRoom(user, to: group, at: now, on: db)
    if outcome == .joined { try InviteUseStore.record(join, by: user, at: now, on: db) }
    return outcome
  }

  /// Adds the user by the group's own code. The caller holds the group's lock and has seen the code, and wakes
  /// ``changes`` up after the commit.
  func join(
    _ user: UserID, byCodeOf group: Group, as member: MembershipID? = nil, at now: Date, on db: any Connection
  ) throws -> JoinOutcome {
    if try Self.activeRole(of: user, in: group.id, on: db) != nil { return .alreadyMember }
    if let owner = try Self.owner(of: group.id, on: db), try BlockStore.exists(between: user, and: owner, on: db) {
      return .blocked
    }
    let madeAt = group.codeMadeAt ?? group.createdAt
    if try Self.wasRemoved(user, from: group.id, since: madeAt, on: db) { return .removed }
    let outcome = try Self.addIfThereIsRoom(user, to: group, as: member, at: now, on: db)
    if outcome == .joined { try changes?.add([user], of: group.id, at: now, on: db) }
    return outcome
  }

  private static func addIfThereIsRoom(
    _ user: UserID, to group: Group, as member: MembershipID? = nil, at now: Date, on db: any Connection
  ) throws -> JoinOutcome {
    guard group.memberCount < group.memberCountMax else { return .full }
    guard try reserveGroup(of: user, isLimited: group.isLimited, on: db) else { return .tooManyGroups }
    try insert(user, into: group.id, as: member, at: now, on: db)
    return .joined
  }

  /// The outcome for a user who may not join, because of a block or a removal; nil when the user may.
  private static func refusal(
    of user: UserID, _ id: GroupID, by join: JoinByInvite, on db: any Connection
  ) throws -> JoinOutcome? {
    if let inviter = join.invitedBy, try BlockStore.exists(between: user, and: inviter, on: db) { return .blocked }
    guard let madeAt = join.madeAt else { return nil }
    if try wasRemoved(user, from: id, since: madeAt, on: db) { return .removed }
    return try isLapsed(join, to: id, on: db) ? .lapsed : nil
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

  /// Whether the inviter may no longer invite. A link becomes invalid when the inviter's membership ends in any way, an
  /// invitation by text message only when the inviter is removed.
  private static func isLapsed(_ join: JoinByInvite, to id: GroupID, on db: any Connection) throws -> Bool {
    guard let inviter = join.invitedBy else { return false }
    let row = try db.row("select state from membership where group_id = \(id) and user_id = \(inviter)")
    switch try row?.get("state", as: String.self) {
    case "active": return false
    case "removed": return true
    default: return join.isLink ?? false
    }
  }
}
