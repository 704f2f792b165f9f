import ClientBodies
import Database
import EventFeed
import Foundation
import Outbox
import Web
import Wire

/// Exports a user's credits and purchases, and erases all but the ledger, which is never changed: it contains no
/// personal data but the user's id.
struct PersonalDataStore: PersonalDataStoring {
  let database: any Database
  let accounts: CreditAccounts
  let billing: BillingPersonalData
  let outbox: Outbox

  func export(of user: UserID) async throws -> PersonalDataExport {
    // Opens the account of a user who has never used it, so that the export contains the signup credits.
    do {
      _ = try await accounts.balance(ofUnchecked: user)
    } catch let failure as Failure where failure == .userNotFound {}
    let purchases = try await billing.export(of: user)
    return try await database.read { db in
      let entries = try LedgerStore.history(of: user, limit: Int(Int32.max), on: db)
      return PersonalDataExport(
        credit_history: entries.map(CreditEntry.init), billing: purchases, credit_lots: try Self.lots(of: user, on: db),
        credit_holds: try Self.holds(of: user, on: db))
    }
  }

  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { [billing, outbox] db in
      try billing.erase(user, at: now, on: db)
      try outbox.erase(user, on: db)
      try Idempotency.erase(user, on: db)
      try EventFeed.erase(user, at: now, on: db)
    }
  }

  /// The lots of which something is left, in the order in which they are spent.
  private static func lots(of user: UserID, on db: any Connection) throws -> [PersonalDataExport.Lot] {
    try db.rows(
      """
      select l.amount, l.remaining, l.expires_at, o.created_at
      from credit_lot l join ledger_operation o on o.id = l.operation_id
      where l.account_id = \(user) and l.is_open order by l.expires_at nulls last, l.position
      """
    ).map { row in
      .init(
        amount: try row.get("amount"), remaining: try row.get("remaining"),
        expires_at: try row.optional("expires_at"), granted_at: try row.get("created_at"))
    }
  }

  /// The newest first.
  private static func holds(of user: UserID, on db: any Connection) throws -> [PersonalDataExport.Hold] {
    try db.rows(
      """
      select id, amount, captured, state, description, reference_id, reference_type, created_at, expires_at, settled_at
      from credit_hold where account_id = \(user) order by id desc
      """
    ).map { row in
      .init(
        id: try row.get("id"), cost: try row.get("amount"), captured: try row.get("captured"),
        status: try row.get("state"), description: try row.optional("description"),
        reference_id: try row.optional("reference_id"),
        reference_type: try row.optional("reference_type"),
        created_at: try row.get("created_at"), expires_at: try row.get("expires_at"),
        settled_at: try row.optional("settled_at"))
    }
  }
}
