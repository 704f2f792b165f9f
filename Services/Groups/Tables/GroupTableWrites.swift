import Database
import Foundation
import RestQueries
import Wire

/// The writes of ``GroupTables``, by the rules that every group has.
struct GroupTableWrites: Sendable {
  let memberships: MembershipStore

  /// The creator is the first member and the owner.
  static func insertGroup(_ row: RowValues, _ caller: Caller, _ db: any Connection) throws {
    guard (row["invite_code"] ?? .null) == .null else { throw RestFailure.generated("invite_code") }
    guard let id: GroupID = row.id("id"), let name = row["name"] else { throw DatabaseFailure.notNull(column: "name") }
    let draft = NewGroup(
      id: id, owner: caller.id, name: try self.name(name), description: try description(row["description"] ?? .null),
      timeZone: .gmt, createdAt: caller.rowTime, isLimited: false)
    do { _ = try GroupStore.create(draft, on: db) } catch let failure as Failure where failure == .tooManyGroups {
      throw RestFailure.tooManyGroups
    }
  }

  /// A code of null is replaced by a new one.
  static func changeGroups(_ keys: [String], _ row: RowValues, _ caller: Caller, _ db: any Connection) throws {
    let name = try row["name"].map(self.name)
    let description = try row["description"].map(self.description)
    for id in keys.compactMap({ GroupID($0) }) {
      let group = try lockedGroup(id, of: caller, on: db)
      if case .text(let code)? = row["invite_code"], code != group.inviteCode {
        throw RestFailure.generated("invite_code")
      }
      let change = GroupChange(name: name, description: description, renewsCode: row["invite_code"] == .null)
      try GroupStore.change(group, change, by: caller.id, at: caller.now, on: db)
    }
  }

  func closeGroups(_ keys: [String], _ caller: Caller, _ db: any Connection) throws {
    for id in keys.compactMap({ GroupID($0) }) {
      let group = try Self.lockedGroup(id, of: caller, on: db)
      try memberships.close(group, at: caller.now, on: db)
    }
  }

  /// Adds the caller to the group whose code the body has. ``GroupTableRoutes`` has counted the attempt before.
  ///
  /// - Throws: ``RestFailure`` 42501 without the group's code, 23505 for a member.
  func insertMember(_ row: RowValues, _ caller: Caller, _ db: any Connection) throws {
    guard let id: GroupID = row.id("group_id"), let member: MembershipID = row.id("id"),
      case .string(let code)? = row.nested("invite_code"), let group = try GroupStore.lock(id, on: db),
      group.inviteCode == GroupCode.normalized(code)
    else { throw RestFailure.newRowDenied("group_members") }
    let outcome = try memberships.join(caller.id, byCodeOf: group, as: member, at: caller.rowTime, on: db)
    guard outcome != .alreadyMember else { throw RestFailure.duplicate("group_members_group_id_user_id_key") }
    try Self.requireJoined(outcome)
  }

  /// - Throws: ``RestFailure`` for a user who may not join, or for whom there is no room.
  static func requireJoined(_ outcome: JoinOutcome) throws {
    switch outcome {
    case .joined, .alreadyMember: break
    case .full: throw RestFailure(400, "23514", "The group is full.")
    case .tooManyGroups: throw RestFailure.tooManyGroups
    default: throw RestFailure.permissionDenied("group_members")
    }
  }

  /// The caller leaves; the owner removes others. The caller's own memberships come last, as an owner who has left
  /// removes nobody.
  func endMemberships(_ keys: [String], _ caller: Caller, _ db: any Connection) throws {
    var members: [(group: GroupID, user: UserID)] = []
    for key in keys {
      guard let id = MembershipID(key), let member = try MembershipStore.member(id, on: db) else {
        throw DatabaseFailure.contended
      }
      members.append(member)
    }
    let others = members.filter { $0.user != caller.id }
    let own = members.filter { $0.user == caller.id }
    for (group, user) in others + own {
      do {
        if user == caller.id {
          try memberships.leave(group, user, at: caller.now, on: db)
        } else {
          try memberships.remove(user, from: group, by: caller.id, at: caller.now, on: db)
        }
        // Another transaction was first: what was read is no longer so.
      } catch is Failure { throw DatabaseFailure.contended }
    }
  }

  /// Takes the group's lock, under which its owner is still the owner.
  private static func lockedGroup(_ id: GroupID, of owner: Caller, on db: any Connection) throws -> Group {
    guard let group = try GroupStore.lock(id, on: db),
      try MembershipStore.activeRole(of: owner.id, in: id, on: db) == .owner
    else { throw DatabaseFailure.contended }
    return group
  }

  private static func name(_ value: Value) throws -> String {
    guard case .text(let text) = value else { throw DatabaseFailure.notNull(column: "name") }
    do { return try TrimmedText.required(text, field: "name", charactersMax: 100) } catch {
      throw DatabaseFailure.check("social_groups_name_length")
    }
  }

  private static func description(_ value: Value) throws -> String? {
    guard case .text(let text) = value else { return nil }
    do { return try GroupFields.description(text) } catch {
      throw DatabaseFailure.check("social_groups_description_length")
    }
  }
}

extension RestFailure {
  fileprivate static let tooManyGroups = RestFailure(
    400, "54000", "You are in too many groups.", hint: "Leave or close groups that are not needed any more.")
}

extension RowValues {
  fileprivate func id<Subject>(_ column: String) -> ID<Subject>? {
    guard case .text(let text)? = self[column] else { return nil }
    return ID(text)
  }
}
