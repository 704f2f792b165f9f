import Clients
import Database
import Foundation
import RestQueries
import RestRoutes
import Web
import Wire

/// Answers requests to the tables: finds out what other services know, then reads, or writes by the rules of the table.
struct AdventureRequests: Sendable {
  let participations: GroupParticipations
  let users: UsersClient
  let names: ParticipantNames
  let shareWrites: ShareWrites
  /// ``SubmissionWrites/origin``
  let origin: String?
  /// nil where no events are recorded.
  let groupMembers: GroupMembers?
  /// Sent when the ends of hunts may have been moved.
  let huntChanges: ChangeSignal
  let now: @Sendable () -> Date

  func answer(
    _ request: RestRequest, of user: UserID, in transaction: RestTransaction
  ) async throws -> RestAnswer {
    let operation = try RestOperation(request.withRankedLeaderboard, in: AdventureTables.schema)
    let caller = try await caller(user, for: operation.table)
    guard !operation.isRead else {
      if operation.table.name == AdventureTables.leaderboard.name { try await names.refresh(for: caller) }
      return try await transaction.answer(operation, for: caller)
    }
    let denied = RestFailure.newRowDenied(operation.table.name)
    let dependsOnGroups = AdventureTables.usesGroups.contains(operation.table.name)
    return try await withCurrentGroups(caller, when: { dependsOnGroups && $0 as? RestFailure == denied }) { caller in
      try await write(operation, for: caller, in: transaction)
    }
  }

  /// Runs `work`, and again where it was refused without a group that the caller has made or joined just now.
  func withCurrentGroups<T>(
    _ caller: RestQueries.Caller, when isRefused: (any Error) -> Bool,
    _ work: (RestQueries.Caller) async throws -> T
  ) async throws -> T {
    do { return try await work(caller) } catch let refusal where isRefused(refusal) {
      guard let current = try await participations.current(caller) else { throw refusal }
      return try await work(current)
    }
  }

  private func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, in transaction: RestTransaction
  ) async throws -> RestAnswer {
    var operation = operation
    let rules = try await rules(for: &operation, caller)
    do { return try await write(operation, by: rules, for: caller, in: transaction) } catch let needed as BlocksNeeded {
      let rules = SubmissionWrites(origin: origin, name: nil, blocked: try await blocked(of: needed.users))
      // Somebody else has submitted something meanwhile: the caller may try again.
      do { return try await write(operation, by: rules, for: caller, in: transaction) } catch is BlocksNeeded {
        throw Failure.unavailable
      }
    }
  }

  private func write(
    _ operation: RestOperation, by rules: any TableWriting, for caller: RestQueries.Caller,
    in transaction: RestTransaction
  ) async throws -> RestAnswer {
    let engine = transaction.database.engine
    let answer = try await transaction.write { db in try rules.write(operation, for: caller, on: db, engine) }
    try await rules.written(answer, for: caller)
    return answer
  }

  /// Whom blocks keep apart from each of the users.
  private func blocked(of users: Set<UserID>) async throws -> [UserID: Set<UserID>] {
    var blocked: [UserID: Set<UserID>] = [:]
    for user in users { blocked[user] = Set(try await participations.member(user).blocked ?? []) }
    return blocked
  }

  /// The caller, with their groups and blocks where the table needs them.
  func caller(_ user: UserID, for table: Table) async throws -> RestQueries.Caller {
    guard AdventureTables.usesGroups.contains(table.name) else { return RestQueries.Caller(user, at: now()) }
    let member = try await participations.member(user)
    return RestQueries.Caller(user, at: now(), groups: member.groups, blocked: member.blocked ?? [])
  }

  private func rules(
    for operation: inout RestOperation, _ caller: RestQueries.Caller
  ) async throws -> any TableWriting {
    switch operation.table.name {
    case AdventureTables.hunts.name: try await huntRules(for: operation, caller)
    case AdventureTables.checkpoints.name: CheckpointWrites()
    case AdventureTables.participants.name: ParticipantWrites()
    case AdventureTables.submissions.name:
      SubmissionWrites(origin: origin, name: try await users.names(of: [caller.id])[caller.id]?.name)
    case AdventureTables.shares.name: try await shareWrites.checked(operation, for: caller)
    case AdventureTables.plans.name: PlanWrites()
    default: PlaceWrites()
    }
  }
}

extension AdventureRequests {
  private func huntRules(for operation: RestOperation, _ caller: RestQueries.Caller) async throws -> HuntWrites {
    let members: @Sendable () async throws -> [GroupID: [UserID]] = { [groupMembers] in
      try await groupMembers?.members(ofGroupsIn: operation, for: caller) ?? [:]
    }
    return HuntWrites(
      members: try await members(), currentMembers: members, participations: participations, changes: huntChanges)
  }
}

/// The rules of a table beyond its declaration.
protocol TableWriting: Sendable {
  /// Writes in the caller's transaction, and records what has happened.
  func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer

  /// Called after the commit, also of a repetition that has written nothing.
  func written(_ answer: RestAnswer, for caller: RestQueries.Caller) async throws
}

extension TableWriting {
  func written(_ answer: RestAnswer, for caller: RestQueries.Caller) async throws {}
}

extension AdventureTables {
  /// Tables whose rows are seen by the members of a group.
  static let usesGroups: Set = [hunts.name, checkpoints.name, participants.name, submissions.name, leaderboard.name]
}

extension RestRequest {
  /// A leaderboard has the order of its ranks unless another is asked for: the highest score first, and of equal ones
  /// who was there first. The ids of its rows are those of people, who are once in each hunt: with the hunt, pages
  /// neither repeat nor skip a row.
  fileprivate var withRankedLeaderboard: RestRequest {
    guard table == AdventureTables.leaderboard.name else { return self }
    let isOrdered = query.split(separator: "&").contains { $0.hasPrefix("order=") }
    let ranks = isOrdered ? "" : "score.desc,last_submitted_at.asc.nullslast,"
    var request = self
    request.query += "\(query.isEmpty ? "" : "&")order=\(ranks)hunt_id"
    return request
  }
}
