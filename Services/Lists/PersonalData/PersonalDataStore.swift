import Database
import Foundation
import Web
import Wire

/// Exports and erases the data of the lists service about a user.
struct PersonalDataStore: PersonalDataStoring {
  let database: any Database

  func export(of user: UserID) async throws -> PersonalDataExport {
    try await database.read { db in try PersonalDataExport(of: user, on: db) }
  }

  /// One list per transaction, or a few tasks, so that no list that stays is locked for long.
  func erase(_ user: UserID, at now: Date) async throws {
    while try await database.write({ db in try PersonalDataErasure.eraseNextOwnedList(of: user, at: now, on: db) }) {}
    while try await database.write({ db in try PersonalDataErasure.leaveNextList(user, at: now, on: db) }) {}
    while try await database.write({ db in try PersonalDataErasure.eraseNextTasks(of: user, at: now, on: db) }) {}
    try await database.write { db in try PersonalDataErasure.eraseRemainingData(of: user, at: now, on: db) }
  }
}
