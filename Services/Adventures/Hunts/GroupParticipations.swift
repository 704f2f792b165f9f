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
  private static let roundsMax = 5

  var readers: GroupReaders { GroupReaders(database: database) }

  /// The groups that the user is in, and whom blocks keep apart from the user. What they had in other groups has ended.
  func member(_ user: UserID) async throws -> MemberOfGroups {
    try await memberships.member(user) { try await end(of: user, outside: $0) }
  }

  /// The caller with the groups that they are in now, of which adventures may not have known a moment ago; nil where
  /// these are the same.
  func current(_ caller: RestQueries.Caller) async throws -> RestQueries.Caller? {
    let member = try await memberships.member(caller.id, isCurrent: true) { try await end(of: caller.id, outside: $0) }
    guard Set(member.groups) != Set(caller.groups) else { return nil }
    return RestQueries.Caller(caller.id, at: caller.now, groups: member.groups, blocked: member.blocked ?? [])
  }

  /// Those of the users who are not in the group lose its hunts at once, and the others may read what happens in them.
  /// Safe to repeat, and to call late: who has come back meanwhile keeps what they have.
  func updateMemberships(of users: [UserID], in group: GroupID) async throws {
    for user in users { try await updateReader(user, of: [group]) }
  }

  /// Lets the caller into the hunts of the group, or of all their groups, into which they have not been let yet.
  ///
  /// - Parameter hunt: of the group; nil for all groups.
  /// - Returns: the caller with the groups that they are in then.
  func letIn(_ caller: RestQueries.Caller, to hunt: String?) async throws -> RestQueries.Caller {
    let groups =
      if let hunt {
        try await readers.groups(newTo: caller, ofHunt: hunt)
      } else {
        try await readers.groups(newTo: caller)
      }
    guard !groups.isEmpty else { return caller }
    try await updateReader(caller.id, of: groups)
    return RestQueries.Caller(caller.id, at: caller.now, groups: try await member(caller.id).groups)
  }

  /// Compares again after each change: whoever was removed or added meanwhile may have been told of before it.
  ///
  /// - Parameter groups: with those that the user is known to read and is not in.
  private func updateReader(_ user: UserID, of groups: [GroupID] = []) async throws {
    for round in 0..<Self.roundsMax {
      memberships.endCache(of: user)
      let member = try await memberships.member(user).groups
      // Participation may have come from a request that had asked for the groups before.
      let left = try await endParticipations(of: user, outside: member)
      let caller = RestQueries.Caller(user, at: now(), groups: member)
      let departed = round == 0 ? groups : []
      guard try await readers.update(Set(groups).union(left), of: caller, departed: departed) else { return }
    }
    throw Failure.unavailable
  }

  /// - Parameter groups: all that the user is in.
  private func end(of user: UserID, outside groups: [GroupID]) async throws {
    let left = try await endParticipations(of: user, outside: groups)
    // Who has left them without this being noticed. The answer may be older than that they have come back.
    if !left.isEmpty { try await updateReader(user) }
  }

  /// - Returns: other groups whose hunts the user may still read, at most a batch.
  private func endParticipations(of user: UserID, outside groups: [GroupID]) async throws -> [GroupID] {
    // There may be more of them: nothing is known to have ended.
    guard groups.count < MemberOfGroups.groupsMax else { return [] }
    while true {
      let (hunts, left) = try await database.readOnce { db in try Self.outside(groups, user, on: db) }
      guard !hunts.isEmpty else { return left }
      try await end(hunts, of: RestQueries.Caller(user, at: now(), groups: groups))
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

  /// The hunts in which the user takes part through other groups, and the groups whose hunts they may still read.
  private static func outside(
    _ groups: [GroupID], _ user: UserID, on db: any Connection
  ) throws -> (hunts: [String], groups: [GroupID]) {
    let isOutside: SQL = "user_id = \(user) and group_id is not null and (group_id in (\(list: groups))) is not true"
    let found = try db.rows(of: [
      "select hunt_id from hunt_participant where \(isOutside) order by hunt_id limit \(batchSize)",
      "select group_id from group_reader where \(isOutside) order by group_id limit \(batchSize)",
    ])
    return (try found[0].map { try $0.get("hunt_id") }, try found[1].map { try $0.get("group_id") })
  }
}
