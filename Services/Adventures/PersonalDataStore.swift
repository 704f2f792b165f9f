import Database
import EventFeed
import Foundation
import Web
import Wire

/// Exports and erases what this service has of a user.
struct AdventuresPersonalDataStore: PersonalDataStoring {
  let database: any Database

  struct Export: Encodable, Sendable {}

  func export(of user: UserID) async throws -> Export { Export() }

  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { db in try EventFeed.erase(user, at: now, on: db) }
  }
}
