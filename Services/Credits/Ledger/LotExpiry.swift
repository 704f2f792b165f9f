import Database
import Foundation
import Wire

/// Books lots that have expired: whoever comes first, the worker or an operation on the account, which is why expired
/// credits cannot be spent however late the worker is. The lock on the account's row makes it once.
enum LotExpiry {
  /// How many lots are booked at a time.
  private static let batchSize = 100

  /// Accounts that may have expired lots, the longest ago first.
  static func dueAccounts(at now: Date, on db: any Connection) throws -> [UserID] {
    try db.rows(
      """
      select id from ledger_account where lots_expire_at <= \(now) order by lots_expire_at limit \(batchSize)
      """
    ).map { try $0.get("id") }
  }

  /// Books all expired lots of an account, each in an operation of its own, and locks the account's row. Safe to repeat.
  ///
  /// - Returns: what is available then, nil when there is no account. An update of the account that has changed nothing
  ///   because lots had expired now succeeds if that is enough, whoever has booked them meanwhile.
  @discardableResult
  static func book(of user: UserID, at now: Date, on db: any Connection) throws -> Int? {
    while true {
      let results = try db.rows(of: [lock(user, at: now), expiredLots(of: user, at: now)])
      guard let account = results[0].first else { return nil }
      guard try account.get("is_due") else { return try account.get("available") }
      try book(results[1], of: user, at: now, on: db)
    }
  }

  private static func lock(_ user: UserID, at now: Date) -> SQL {
    """
    update ledger_account set held = held where id = \(user)
    returning balance - held as available, case when lots_expire_at <= \(now) then 1 else 0 end as is_due
    """
  }

  /// What is held does not expire. When it is given back, the account is due again.
  private static func expiredLots(of user: UserID, at now: Date) -> SQL {
    """
    select operation_id, remaining - held as free from credit_lot
    where account_id = \(user) and is_open and expires_at <= \(now) and remaining > held
    order by expires_at, position limit \(batchSize)
    """
  }

  private static func book(_ lots: [Row], of user: UserID, at now: Date, on db: any Connection) throws {
    let expired = try lots.map { row in
      CreditOperation(
        id: .new(at: now), user: user, amount: -(try row.get("free", as: Int.self)), type: .expiry,
        description: "Expired credits", referenceID: try row.get("operation_id"), referenceType: "grant", at: now)
    }
    for operation in expired {
      try db.enqueue(
        """
        update credit_lot set remaining = remaining + \(operation.amount), is_open = remaining + \(operation.amount) > 0
        where operation_id = \(operation.referenceID)
        """)
    }
    try post(expired, of: user, on: db)
  }

  private static func post(_ expired: [CreditOperation], of user: UserID, on db: any Connection) throws {
    let total = expired.reduce(0) { $0 - $1.amount }
    let row = try db.row(
      """
      update ledger_account set balance = balance - \(total), lifetime_spent = lifetime_spent + \(total),
        posting_count = posting_count + \(expired.count),
        lots_expire_at = (select l.expires_at from credit_lot l
          where l.account_id = \(user) and l.is_open and l.expires_at is not null and l.remaining > l.held
          order by l.expires_at limit 1)
      where id = \(user) returning \(ChangedAccount.columns)
      """)
    guard let account = try row.map(ChangedAccount.init) else { throw DatabaseFailure.contended }
    var (position, net) = (account.postingCount - expired.count, account.net + total)
    for operation in expired {
      position += 1
      net += operation.amount
      try operation.enqueuePostings(at: position, net: net, on: db)
      CreditEvents.balanceChanged(to: net, by: operation, on: db)
    }
  }
}
