import Database
import Foundation
import Outbox
import Wire

/// Exports the data of the auth service about a user, and schedules its erasure. Not a `PersonalDataStoring`, which
/// erases when another service asks: here ``AccountErasure`` erases, after a grace period and in several steps.
struct PersonalDataStore: Sendable {
  let database: any Database
  let outbox: Outbox

  /// nil when the user does not exist or is not active.
  func export(of user: UserID) async throws -> PersonalDataExport? {
    try await database.read { db in try PersonalDataExport(of: user, on: db) }
  }

  /// Deactivates an account, ends its sessions, and schedules its erasure and the revocation of Apple's grants, in one
  /// transaction. nil when the account is not active.
  func requestErasure(of user: UserID, dueAt due: Date, at now: Date) async throws -> [EndedSession]? {
    try await database.write { [outbox] db in
      try PersonalDataErasure.request(for: user, dueAt: due, outbox, at: now, on: db)
    }
  }
}
