import Database
import EventFeed
import Foundation
import Web
import Wire

/// Exports a user's credit history and erases their idempotency records. The ledger is never changed: it contains no
/// personal data but the user's id.
struct PersonalDataStore: PersonalDataStoring {
  let database: any Database
  let accounts: CreditAccounts

  func export(of user: UserID) async throws -> PersonalDataExport {
    // Opens the account of a user who has never used it, so that the export contains the signup credits.
    do {
      _ = try await accounts.balance(ofUnchecked: user)
    } catch let failure as Failure where failure == .userNotFound {}
    let entries = try await accounts.store.history(of: user, limit: Int(Int32.max), offset: 0)
    return PersonalDataExport(credit_history: entries.map(HistoryBody.init))
  }

  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { db in
      try Idempotency.erase(user, on: db)
      try EventFeed.erase(user, at: now, on: db)
    }
  }
}
