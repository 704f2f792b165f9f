import ClientBodies
import Database
import EventFeed
import Foundation
import Outbox
import Web
import Wire

/// Exports and erases what this service has of a user.
struct TimepointsPersonalDataStore: PersonalDataStoring {
  let database: any Database
  let presenter: TimepointPresenter
  let removal: TimepointRemoval
  let outbox: Outbox

  private static let batchSize = 200

  func export(of user: UserID) async throws -> TimepointsExport {
    let owner = Viewer(user: user, isOpen: false)
    var timepoints: [ClientBodies.Timepoint] = []
    var batch: [Timepoint]
    var last: TimepointID?
    repeat {
      batch = try await self.batch(of: user, after: last)
      timepoints += batch.map { presenter.body($0, for: owner, isFull: true) }
      last = batch.last?.id
    } while batch.count == Self.batchSize
    let conversations = try await database.read { db in
      try ConversationStore.all(of: user, on: db).map {
        ClientBodies.Conversation($0, try ConversationStore.messages(of: $0.id, on: db))
      }
    }
    return TimepointsExport(timepoints: timepoints, interaction_sessions: conversations)
  }

  /// Files first: a row that is left leads to its files when the erasure is repeated. Generations that run end without
  /// a result, as their rows are gone.
  func erase(_ user: UserID, at now: Date) async throws {
    var batch: [Timepoint]
    repeat {
      batch = try await self.batch(of: user, after: nil)
      try await removal.deleteFiles(of: batch)
      let ids = batch.map(\.id)
      guard !ids.isEmpty else { break }
      try await database.write { db in
        for id in ids {
          try db.change("delete from generation_job where id = \(id)")
          try TimepointStore.delete(id, on: db)
        }
      }
    } while batch.count == Self.batchSize
    try await database.write { [outbox] db in
      try GenerationJobStore.erase(user, on: db)
      try ConversationStore.erase(user, on: db)
      try ChargeStore.erase(user, on: db)
      try outbox.erase(user, on: db)
      try Idempotency.erase(user, on: db)
      try EventFeed.erase(user, at: now, on: db)
    }
  }

  private func batch(of user: UserID, after last: TimepointID?) async throws -> [Timepoint] {
    try await database.read { db in
      try TimepointLists.all(of: user, after: last, limit: Self.batchSize, on: db)
    }
  }
}

struct TimepointsExport: Encodable, Sendable {
  let timepoints: [ClientBodies.Timepoint]
  let interaction_sessions: [ClientBodies.Conversation]
}
