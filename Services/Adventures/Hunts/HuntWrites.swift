import Database
import EventFeed
import Foundation
import RestQueries
import Tokens
import Web
import Wire

/// Hunts: made with their checkpoints, moved from state to state by their creator, deleted while nobody has begun.
struct HuntWrites: TableWriting {
  /// The members of the groups in which hunts are made.
  let members: [GroupID: [UserID]]
  /// Asks for them again.
  let currentMembers: @Sendable () async throws -> [GroupID: [UserID]]
  let participations: GroupParticipations
  let changes: ChangeSignal

  func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    switch operation.request.method {
    case .patch: try update(operation, for: caller, on: db, engine)
    case .delete: try delete(operation, for: caller, on: db, engine)
    default: try insert(operation, for: caller, on: db, engine)
    }
  }

  /// Who has joined a group since its members were asked for may have been let into its hunts before there was this
  /// one, and who has left it was let into this one all the same.
  func written(_ answer: RestAnswer, for caller: RestQueries.Caller) async throws {
    changes.send()
    guard !members.isEmpty, !answer.changedKeys.isEmpty else { return }
    do {
      for (group, users) in try await currentMembers() {
        let before = Set(members[group] ?? [])
        let newcomers = Set(users).subtracting(before).subtracting([caller.id])
        try await participations.readers.letIn(newcomers, to: answer.changedKeys, of: group, at: caller.now)
        // Not all of them have left: of large groups only a thousand are named.
        let missing = before.subtracting(users).subtracting([caller.id])
        try await participations.updateMemberships(of: Array(missing), in: group)
      }
    } catch let failure as Failure where failure.kind == .unavailable {
      // The hunt is made all the same. Its own topic is open to them, as they see the hunt.
    }
  }

  private func insert(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    var operation = operation
    // What is there already has a state, from which only a PATCH may move it.
    guard operation.request.method == .post, operation.preferences.resolution != .mergeDuplicates else {
      throw RestFailure.huntUpsert
    }
    for row in operation.body?.rows ?? [] {
      guard row["status"]?.string ?? "draft" == "draft" else { throw RestFailure.huntState(from: nil) }
      guard row["invite_code"] ?? .null == .null else { throw RestFailure.codeIsMade }
    }
    operation.body?.set("invite_code") { _ in .string(Hunt.newInviteCode()) }
    operation.body?.set("id") { row in
      if let id = row["id"], id != .null { id } else { .string(ID<Hunt>.new(at: caller.now).description) }
    }
    let checkpoints = try (operation.body?.rows ?? []).map { row in
      try NestedCheckpoints(row["checkpoints"], hunt: row["id"] ?? .null)
    }
    try NestedCheckpoints.requireFew(checkpoints)
    let hasCheckpoints = checkpoints.contains { !$0.rows.isEmpty }
    guard operation.preferences.resolution == nil || !hasCheckpoints else { throw RestFailure.huntUpsert }
    var added: [String] = []
    let answer = try operation.answer(for: caller, on: db, engine) {
      for nested in checkpoints { added += try nested.insert(for: caller, on: db, engine) }
    }
    let events = HuntEvents(caller: caller, engine: engine, members: members)
    try events.changed(answer.changedKeys, .insert, on: db)
    try events.checkpointsChanged(added, .insert, on: db)
    return answer
  }

  private func update(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    var operation = operation
    if let row = operation.body?.rows.first, let code = row["invite_code"] {
      guard code == .null else { throw RestFailure.codeIsMade }
      operation.body?.set("invite_code") { _ in .string(Hunt.newInviteCode()) }
    }
    let hunts = try Hunt.lock(try operation.restrict(for: caller, on: db, engine), on: db)
    let row = operation.body?.rows.first ?? [:]
    if let status = row["status"] {
      for hunt in hunts { try hunt.requireTransition(to: status.string ?? "") }
      let isStart = status.string == HuntStatus.active.rawValue && hunts.contains { $0.status == .draft }
      if isStart, row["start_time"] ?? .null == .null {
        // What has begun keeps its time.
        if let other = hunts.first(where: { $0.status != .draft }) { throw RestFailure.huntState(from: other.status) }
        operation.body?.set("start_time") { _ in .string(RFC3339.seconds(caller.now)) }
      }
    }
    let answer = try operation.answer(for: caller, on: db, engine)
    try HuntEvents(caller: caller, engine: engine).changed(
      answer.changedKeys, .update, before: Dictionary(hunts.map { ($0.id, $0.status) }) { $1 }, on: db)
    return answer
  }

  private func delete(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    var operation = operation
    _ = try Hunt.lock(try operation.restrict(for: caller, on: db, engine), on: db)
    let answer = try operation.answer(for: caller, on: db, engine)
    for key in answer.changedKeys { HuntEvents.deleted(key, at: caller.now, on: db) }
    return answer
  }
}

extension RestFailure {
  static let codeIsMade = RestFailure(
    403, "42501", "permission denied for table scavenger_hunts",
    details: "The server makes invite codes: null asks for a new one.")
  static let huntUpsert = RestFailure(
    400, "0A000", "A hunt is made by POST and changed by PATCH", hint: "Leave out the preference for duplicates.")
}
