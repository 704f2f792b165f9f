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

  /// The rows of each table that are the user's own. They are read while they are answered.
  func export(of user: UserID) -> PersonalDataExport { PersonalDataExport(of: user, in: database, at: now()) }

  /// Hunts that the user has made go with everything in them. The user's own files are erased by groups.
  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { [outbox, engine = database.engine] db in
      try db.change("delete from adventure_plan where user_id = \(user)")
      try db.change("delete from saved_place where user_id = \(user)")
      for share in try ShareStore.removeRecipient(user, on: db) where share.owner != user {
        try ShareEvents(engine: engine).recipientErased(of: share.key, of: share.owner, at: now, on: db)
      }
      try Self.eraseShares(of: user, at: now, on: db)
      try Self.eraseSubmissions(of: user, at: now, on: db)
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

  private static func eraseSubmissions(of user: UserID, at now: Date, on db: any Connection) throws {
    let deleted = try db.rows("delete from checkpoint_submission where user_id = \(user) returning id, checkpoint_id")
    guard EventFeed.isRecording(on: db) else { return }
    let keys = try Dictionary(grouping: deleted) { try $0.get("checkpoint_id", as: ID<Checkpoint>.self) }
    var hunts: [String: [String]] = [:]
    for checkpoints in Array(keys.keys).statementChunks {
      for row in try db.rows("select id, hunt_id from hunt_checkpoint where id in (\(list: checkpoints))") {
        hunts[try row.get("hunt_id"), default: []] += try (keys[row.get("id")] ?? []).map { try $0.get("id") }
      }
    }
    for (hunt, keys) in hunts { HuntEvents.submissionsErased(keys, of: hunt, at: now, on: db) }
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
