import Database
import Foundation
import Web
import Wire

/// What lists keep about a user, and that they forget it.
struct PersonalDataStore: KeepsPersonalData {
  let database: any Database

  func export(of user: UserID) async throws -> Export {
    try await database.read { db in try Export(of: user, on: db) }
  }

  /// One list at a time, so that nobody waits long for those that stay.
  func erase(_ user: UserID, at now: Date) async throws {
    while try await database.write({ db in try Erasure.forgetNextOwnedList(of: user, at: now, on: db) }) {}
    while try await database.write({ db in try Erasure.leaveNextList(user, on: db) }) {}
    try await database.write { db in try Erasure.forgetTheRest(of: user, on: db) }
  }
}
