import Database
import Foundation
import Web
import Wire

/// What credits keep about a user, and what they forget: never the ledger, which names only the bare id.
struct PersonalDataStore: KeepsPersonalData {
  let database: any Database
  let accounts: Accounts

  func export(of user: UserID) async throws -> [String: [HistoryBody]] {
    // Whoever has never looked at their credits has been given some all the same.
    do { _ = try await accounts.balance(ofNamed: user) } catch let failure as Failure where failure == .userNotFound {}
    let entries = try await accounts.store.history(of: user, limit: Int(Int32.max), offset: 0)
    return ["credit_history": entries.map(HistoryBody.init)]
  }

  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { db in try Idempotency.erase(user, on: db) }
  }
}
