import Database
import Foundation
import Web
import Wire

/// What credits keep about a user, and what they forget: never the ledger, which names only the bare id.
struct PersonalDataStore: KeepsPersonalData {
  let database: any Database
  let ledger: LedgerStore

  func export(of user: UserID) async throws -> [String: [HistoryBody]] {
    let entries = try await ledger.history(of: user, limit: Int(Int32.max), offset: 0)
    return ["credit_history": entries.map(HistoryBody.init)]
  }

  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { db in try Idempotency.erase(user, on: db) }
  }
}
