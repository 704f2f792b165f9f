import Database
import Foundation
import Wire

/// A user's postings, by pages.
extension LedgerStore {
  /// The user's postings, the newest first.
  func history(
    of user: UserID, limit: Int, offset: Int = 0, before cursor: HistoryCursor? = nil
  ) async throws -> [HistoryEntry] {
    try await database.read { db in
      try Self.history(of: user, limit: limit, offset: offset, before: cursor, on: db)
    }
  }

  /// An account's postings are numbered without gaps, so the offset is subtracted instead of walked.
  ///
  /// - Parameters:
  ///   - offset: how many of the newest to skip, without a cursor.
  ///   - cursor: the last entry of the previous page.
  static func history(
    of user: UserID, limit: Int, offset: Int = 0, before cursor: HistoryCursor? = nil, on db: any Connection
  ) throws -> [HistoryEntry] {
    try db.rows(
      """
      select p.position, p.amount, p.balance_after, o.type, o.description, o.reference_id, o.reference_type,
        o.created_at
      from ledger_posting p join ledger_operation o on o.id = p.operation_id
      where p.account_id = \(user)
        and p.position <= coalesce(cast(\(cursor.map { $0.position - 1 }) as bigint),
          (select posting_count - \(offset) from ledger_account where id = \(user)))
      order by p.position desc limit \(limit)
      """
    ).map(HistoryEntry.init)
  }
}

extension HistoryEntry {
  fileprivate init(_ row: Row) throws {
    position = try row.get("position")
    amount = try row.get("amount")
    balanceAfter = try row.get("balance_after")
    type = try row.get("type")
    description = try row.optional("description")
    referenceID = try row.optional("reference_id")
    referenceType = try row.optional("reference_type")
    createdAt = try row.get("created_at")
  }
}
