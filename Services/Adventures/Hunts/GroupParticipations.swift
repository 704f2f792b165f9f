import Clients
import Database
import EventFeed
import Foundation
import RestQueries
import Wire

/// Ends what people have in hunts as members of a group, when they are in the group no longer: the participation, and
/// the right to read the topics of its hunts, which begins when they join. Their other rights have changed before:
/// statements compare the groups of the caller.
struct GroupParticipations: Sendable {
  let database: any Database
  let memberships: GroupMemberships
  let now: @Sendable () -> Date

  private static let batchSize = 100
  /// Of a group, the newest.
  private static let huntsMax = 1000

  /// The groups that the user is in, and whom blocks keep apart from the user. What they had in other groups has ended.
  func member(_ user: UserID) async throws -> MemberOfGroups {
    try await memberships.member(user) { try await end(of: user, outside: $0) }
  }

  /// Those of the users who are not in the group lose its hunts at once, and the others may read what happens in them.
  /// Safe to repeat, and to call late: who has come back meanwhile keeps what they have.
  func updateMemberships(of users: [UserID], in group: GroupID) async throws {
    for user in users {
      memberships.endCache(of: user)
      let groups = try await member(user).groups
      // Participation may have come from a request that had asked for the groups before.
      try await end(of: user, outside: groups)
      let caller = RestQueries.Caller(user, at: now(), groups: groups)
      groups.contains(group)
        ? try await showHunts(of: group, to: caller) : try await hideHunts(of: group, from: caller)
    }
  }

  /// - Parameter groups: all that the user is in.
  func end(of user: UserID, outside groups: [GroupID]) async throws {
    // There may be more of them: nothing is known to have ended.
    guard groups.count < MemberOfGroups.groupsMax else { return }
    while true {
      let ended = try await database.readOnce { db in try Self.outside(groups, user, on: db) }
      guard !ended.isEmpty else { return }
      try await end(ended, of: RestQueries.Caller(user, at: now(), groups: groups))
    }
  }

  private func end(_ hunts: [String], of caller: RestQueries.Caller) async throws {
    try await database.write { db in
      _ = try Hunt.lock(hunts, on: db)
      for hunt in hunts {
        let deleted = try db.row(
          """
          delete from hunt_participant where hunt_id = \(ID<Hunt>(hunt)) and user_id = \(caller.id)
            and group_id is not null and (group_id in (\(list: caller.groups))) is not true
          returning id
          """)
        guard let deleted else { continue }
        try ParticipantStore.ended(try deleted.get("id"), of: caller, in: hunt, on: db)
      }
    }
  }

  private static func outside(_ groups: [GroupID], _ user: UserID, on db: any Connection) throws -> [String] {
    try db.rows(
      """
      select hunt_id from hunt_participant where user_id = \(user) and group_id is not null
        and (group_id in (\(list: groups))) is not true
      order by hunt_id limit \(batchSize)
      """
    ).map { try $0.get("hunt_id") }
  }

  private func hideHunts(of group: GroupID, from caller: RestQueries.Caller) async throws {
    let hidden: [String] = try await database.readOnce { db in
      try db.rows(
        """
        select h.id from hunt h where h.group_id = \(group) and not (\(AdventureTables.isVisible("h.id", caller)))
        order by h.id desc limit \(Self.huntsMax)
        """
      ).map { try $0.get("id") }
    }
    try await record(hidden) { hunts, db in
      HuntEvents.hidden(hunts, of: group, from: caller.id, at: caller.now, on: db)
    }
  }

  /// Those that they see as a member only.
  private func showHunts(of group: GroupID, to caller: RestQueries.Caller) async throws {
    let shown: [String] = try await database.readOnce { db in
      try db.rows(
        """
        select h.id from hunt h where h.group_id = \(group) and h.created_by <> \(caller.id) and h.id not in (
          select mine.hunt_id from hunt_participant mine where mine.user_id = \(caller.id) and mine.group_id is null)
        order by h.id desc limit \(Self.huntsMax)
        """
      ).map { try $0.get("id") }
    }
    try await record(shown) { hunts, db in
      HuntEvents.shown(hunts, of: group, to: caller.id, at: caller.now, on: db)
    }
  }

  /// In batches, as events have a size.
  private func record(
    _ hunts: [String], by event: @escaping @Sendable ([String], any Connection) -> Void
  ) async throws {
    guard !hunts.isEmpty else { return }
    try await database.write { db in
      for start in stride(from: 0, to: hunts.count, by: Self.batchSize) {
        event(Array(hunts[start..<min(start + Self.batchSize, hunts.count)]), db)
      }
    }
  }
}
