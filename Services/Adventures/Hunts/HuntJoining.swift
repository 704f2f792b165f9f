import Clients
import Database
import Foundation
import RestQueries
import Wire

/// Joining hunts: by whoever sees one, or with its code.
struct HuntJoining: Sendable {
  let database: any Database
  let codes: HuntCodes
  let groups: GroupsClient
  let users: UsersClient
  let participations: GroupParticipations

  /// Joins a hunt that the caller sees, or whose code they have. Safe to repeat.
  ///
  /// - Returns: the hunt's row as the caller sees it then.
  /// - Throws: 404 `hunt_not_found`, 429, ``RestQueries/RestFailure`` 400 for a hunt that is over, and for too many.
  func join(_ id: String, code: String?, for caller: RestQueries.Caller) async throws -> RestAnswer {
    let sees = try await database.readOnce { db in try Hunt.isVisible(id, caller, on: db) }
    if sees { return try await join(id, byCode: false, for: caller) }
    guard let code, try await find(code, for: caller) == ID<Hunt>(id)?.description else { throw Failure.huntNotFound }
    return try await join(id, byCode: true, for: caller)
  }

  /// Joins the hunt that has the code. Safe to repeat.
  func join(code: String, for caller: RestQueries.Caller) async throws -> RestAnswer {
    guard let id = try await find(code, for: caller) else { throw Failure.huntNotFound }
    return try await join(id, byCode: true, for: caller)
  }

  /// The hunt of a code, unless a block keeps its creator and the caller apart.
  private func find(_ code: String, for caller: RestQueries.Caller) async throws -> String? {
    guard let found = try await codes.hunt(of: code, for: caller.id, at: caller.now) else { return nil }
    guard found.createdBy != caller.id else { return found.id }
    let relations = try await groups.relations(of: caller.id, to: [found.createdBy])
    return relations.blocked.isEmpty ? found.id : nil
  }

  private func join(_ id: String, byCode: Bool, for caller: RestQueries.Caller) async throws -> RestAnswer {
    let name = try await users.names(of: [caller.id])[caller.id]?.name
    let engine = database.engine
    let (group, answer) = try await database.write { db -> (GroupID?, RestAnswer) in
      guard let hunt = try Hunt.lock([id], on: db).first else { throw Failure.huntNotFound }
      let isIn = try ParticipantStore.isParticipant(caller.id, throughGroups: caller.groups, in: hunt.id, on: db)
      guard isIn || !hunt.isOver(at: caller.now) else { throw RestFailure.huntNotRunning("The hunt is over") }
      // A member of the group takes part as one, also by the code, which every member can read.
      let isCreator = hunt.createdBy == caller.id
      let group = isCreator ? nil : hunt.groupID.flatMap { caller.groups.contains($0) ? $0 : nil }
      if !isIn || byCode { try ParticipantStore.add(caller, to: hunt, through: group, on: db, engine) }
      try ParticipantNames.store(name, of: caller.id, at: caller.now, on: db)
      return (group, try Self.row(of: hunt.id, for: caller, on: db, engine))
    }
    // Whoever was removed while they joined: what their removal has ended did not have this participation yet. Groups
    // is asked, as another replica may have been told of it.
    guard let group, let current = try await participations.current(caller) else { return answer }
    guard !current.groups.contains(group) else { return answer }
    throw Failure.huntNotFound
  }

  private static func row(
    of id: String, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    let request = RestRequest(
      .get, AdventureTables.hunts.name, query: "id=eq.\(id)", accept: "application/vnd.pgrst.object+json")
    let answer = try RestOperation(request, in: AdventureTables.schema).answer(for: caller, on: db, engine)
    return RestAnswer(status: 200, headers: [("content-type", "application/json; charset=utf-8")], body: answer.body)
  }
}

extension Failure {
  static let huntNotFound = Failure(.notFound, "hunt_not_found", "There is no such hunt.")
}
