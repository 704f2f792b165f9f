import Database
import EventFeed
import Foundation
import Outbox
import RestQueries
import Web
import Wire

/// Exports and erases what this service has of a user.
struct AdventuresPersonalDataStore: PersonalDataStoring {
  let database: any Database
  let outbox: Outbox
  let now: @Sendable () -> Date

  /// The rows of each table that are the user's own.
  func export(of user: UserID) async throws -> [String: [JSONValue]] {
    let caller = RestQueries.Caller(user, at: now())
    var export: [String: [JSONValue]] = [:]
    for (table, owner) in Self.ownedTables {
      export[table.name] = try await rows(of: table, where: "\(owner)=eq.\(user)", for: caller)
    }
    export[AdventureTables.hunts.name] = try await hunts(of: user, for: caller)
    export[AdventureTables.participants.name] = try await participations(of: user)
    export[AdventureTables.submissions.name] = try await submissions(of: user)
    return export
  }

  private static let ownedTables = [
    (AdventureTables.plans, "user_id"), (AdventureTables.places, "user_id"), (AdventureTables.shares, "user_id"),
  ]

  /// With their checkpoints, which may be more than an answer can have.
  private func hunts(of user: UserID, for caller: RestQueries.Caller) async throws -> [JSONValue] {
    var hunts: [JSONValue] = []
    for hunt in try await rows(of: AdventureTables.hunts, where: "created_by=eq.\(user)", for: caller) {
      guard case .object(var members) = hunt, case .string(let id)? = members["id"] else { continue }
      members[AdventureTables.checkpoints.name] = .array(
        try await rows(of: AdventureTables.checkpoints, where: "hunt_id=eq.\(id)", for: caller))
      hunts.append(.object(members))
    }
    return hunts
  }

  private func rows(
    of table: Table, where condition: String, for caller: RestQueries.Caller
  ) async throws -> [JSONValue] {
    var rows: [JSONValue] = []
    let limit = table.pageSize
    while true {
      let request = RestRequest(.get, table.name, query: "\(condition)&limit=\(limit)&offset=\(rows.count)")
      let answer = try await AdventureTables.schema.answer(request, for: caller, in: database)
      let page = try JSON.decode([JSONValue].self, from: Data(answer.body))
      rows += page
      if page.count < limit { return rows }
    }
  }

  private func participations(of user: UserID) async throws -> [JSONValue] {
    try await database.readOnce { db in
      try db.rows("select hunt_id, joined_at from hunt_participant where user_id = \(user) order by hunt_id").map {
        row in
        JSONValue([
          "hunt_id": try row.get("hunt_id", as: String.self), "joined_at": try row.get("joined_at", as: Date.self),
        ])
      }
    }
  }

  private func submissions(of user: UserID) async throws -> [JSONValue] {
    try await database.readOnce { db in
      try db.rows(
        """
        select checkpoint_id, photo_url, submitted_at, verified from checkpoint_submission
        where user_id = \(user) order by checkpoint_id
        """
      ).map { row in
        JSONValue([
          "checkpoint_id": try row.get("checkpoint_id", as: String.self),
          "photo_url": try row.optional("photo_url", as: String.self),
          "submitted_at": try row.get("submitted_at", as: Date.self),
          "verified": try row.get("verified", as: Bool.self),
        ])
      }
    }
  }

  /// Hunts that the user has made go with everything in them. The user's own files are erased by groups.
  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { [outbox] db in
      try db.change("delete from adventure_plan where user_id = \(user)")
      try db.change("delete from saved_place where user_id = \(user)")
      try ShareStore.removeRecipient(user, on: db)
      try Self.eraseShares(of: user, at: now, on: db)
      try db.change("delete from checkpoint_submission where user_id = \(user)")
      try Self.eraseParticipations(of: user, at: now, on: db)
      try db.change("delete from hunt_score where user_id = \(user)")
      try db.change("delete from participant_name where user_id = \(user)")
      try db.change("delete from group_reader where user_id = \(user)")
      try SubmissionPhotos.delete(inHuntsOf: user, outbox, at: now, on: db)
      for row in try db.rows("delete from hunt where created_by = \(user) returning id") {
        HuntEvents.deleted(try row.get("id"), at: now, on: db)
      }
      try outbox.erase(user, on: db)
      try Idempotency.erase(user, on: db)
      try EventFeed.erase(user, at: now, on: db)
    }
  }

  private static func eraseShares(of user: UserID, at now: Date, on db: any Connection) throws {
    for row in try db.rows("delete from eta_share where user_id = \(user) returning id, is_active") {
      let key = try row.get("id", as: String.self)
      if try row.get("is_active") {
        let recipients = try ShareStore.recipients(of: key, on: db)
        ShareEvents.erased(key, of: user, recipients: recipients, at: now, on: db)
      }
      try ShareStore.deleteRecipients(of: key, on: db)
    }
  }

  private static func eraseParticipations(of user: UserID, at now: Date, on db: any Connection) throws {
    let hunts = try db.rows("select hunt_id from hunt_participant where user_id = \(user) order by hunt_id")
      .map { try $0.get("hunt_id", as: String.self) }
    _ = try Hunt.lock(hunts, on: db)
    for row in try db.rows("delete from hunt_participant where user_id = \(user) returning id, hunt_id") {
      HuntEvents.erased(user, try row.get("hunt_id"), as: try row.get("id"), at: now, on: db)
    }
  }
}
