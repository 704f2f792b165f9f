import Database
import Foundation
import Outbox
import Web
import Wire

/// Exports and erases the data of the invites service about a user.
struct PersonalDataStore: PersonalDataStoring {
  let invites: InviteStore
  let outbox: Outbox
  var database: any Database { invites.database }

  func export(of user: UserID) async throws -> PersonalDataExport {
    try await database.read { [invites] db in try PersonalDataExport(of: user, invites, on: db) }
  }

  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { [outbox] db in try PersonalDataErasure.erase(user, outbox, at: now, on: db) }
  }
}
