import Database
import Foundation
import Wire

/// A user's account row right after an update of it, which has locked it for the transaction.
struct ChangedAccount: Sendable {
  let balance: Int
  let held: Int
  let debt: Int
  let postingCount: Int
  let isSignupBonusSettled: Bool

  /// The columns that the update returns.
  static let columns: SQL = "balance, held, debt, posting_count, is_welcomed"

  init(_ row: Row) throws {
    balance = try row.get("balance")
    held = try row.get("held")
    debt = try row.get("debt")
    postingCount = try row.get("posting_count")
    isSignupBonusSettled = try row.get("is_welcomed")
  }

  /// What can be spent. There is none while there is debt.
  var available: Int { balance - held }
  /// The sum of the account's postings, negative in debt.
  var net: Int { balance - debt }

  /// How much of `amount`, which this update has made available, has paid debt.
  func paidDebt(of amount: Int) -> Int { amount - min(amount, available) }
}

extension CreditOperation {
  /// Inserts the operation and its two postings in the round trip of the next statement.
  ///
  /// - Parameters:
  ///   - position: of the posting among those of the account.
  ///   - net: the sum of the account's postings with this one.
  func enqueuePostings(at position: Int, net: Int, capturing hold: HoldID? = nil, on db: any Connection) throws {
    try db.enqueue(
      """
      insert into ledger_operation
        (id, type, description, reference_id, reference_type, caller, idempotency_key, hold_id, created_at)
      values (\(id), \(type.rawValue), \(description), \(referenceID), \(referenceType), \(caller), \(idempotencyKey),
        \(hold), \(at))
      """)
    try db.enqueue(
      """
      insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
      values (\(id), \(user), \(amount), \(net), \(position)), (\(id), \(counterpart.id), \(-amount), null, null)
      """)
  }
}
