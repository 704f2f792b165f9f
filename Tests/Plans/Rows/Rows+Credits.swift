@testable import Credits

extension Rows {
  /// A million postings: five operations of each of 100,000 users, each with a posting of the system. Each user's last
  /// lot is open, in a fifth of them it expires later, and each had a hold; 500 have an open one.
  static let credits = Rows(service: "credits", migrations: creditsMigrations) { rows in
    [
      """
      insert into ledger_account (id, kind, balance, held, lifetime_earned, posting_count, opened_at, is_welcomed,
        lots_expire_at)
      select cast(\(rows.id("n")) as text), 'user', 50, case when n <= 500 then 7 else 0 end, 50, 5,
        \(rows.ago("n * 60")), true, case when n % 5 = 0 then \(rows.ago("-n * 600")) end
      from \(rows.numbers(100_000))
      """,
      """
      insert into ledger_operation (id, type, caller, idempotency_key, created_at)
      select \(rows.id("n", Kind.operation)), 'admin_grant', 'admin', case when n % 2 = 0 then 'key ' || n end,
        \(rows.ago("500000 - n"))
      from \(rows.numbers(500_000))
      """,
      """
      insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
      select \(rows.id("n", Kind.operation)), cast(\(rows.id("(n - 1) % 100000 + 1")) as text), 10,
        ((n - 1) / 100000 + 1) * 10, (n - 1) / 100000 + 1
      from \(rows.numbers(500_000))
      """,
      """
      insert into ledger_posting (operation_id, account_id, amount)
      select \(rows.id("n", Kind.operation)), 'system', -10 from \(rows.numbers(500_000))
      """,
      """
      insert into credit_lot (operation_id, account_id, position, amount, remaining, held, is_open, expires_at)
      select \(rows.id("n", Kind.operation)), cast(\(rows.id("(n - 1) % 100000 + 1")) as text), (n - 1) / 100000 + 1, 50,
        case when n > 400000 then 50 else 0 end, case when n > 400000 and n <= 400500 then 7 else 0 end, n > 400000,
        case when n % 5 = 0 then \(rows.ago("-((n - 1) % 100000 + 1) * 600")) end
      from \(rows.numbers(500_000))
      """,
      """
      insert into credit_hold (id, account_id, amount, type, caller, idempotency_key, created_at, expires_at,
        opened_balance, opened_held, state, captured, settled_at, settled_balance)
      select \(rows.id("n", Kind.hold)), cast(\(rows.id("n")) as text), 7, 'generation', 'timepoints', 'hold ' || n,
        \(rows.ago("500000 - n")), \(rows.ago("499000 - n")), 50, 7, case when n % 2 = 0 then 'released' else 'expired' end,
        0, \(rows.ago("499500 - n")), 50
      from \(rows.numbers(100_000))
      """,
      """
      insert into credit_hold (id, account_id, amount, type, caller, idempotency_key, created_at, expires_at,
        opened_balance, opened_held)
      select \(rows.id("n", Kind.openHold)), cast(\(rows.id("n")) as text), 7, 'generation', 'timepoints', 'open ' || n,
        \(rows.ago("100")), \(rows.ago("-80000")), 50, 7
      from \(rows.numbers(500))
      """,
      """
      insert into credit_hold_lot (hold_id, lot_id, amount)
      select \(rows.id("n", Kind.hold)), \(rows.id("400000 + n", Kind.operation)), 7 from \(rows.numbers(100_000))
      """,
      """
      insert into credit_hold_lot (hold_id, lot_id, amount)
      select \(rows.id("n", Kind.openHold)), \(rows.id("400000 + n", Kind.operation)), 7 from \(rows.numbers(500))
      """,
      rows.idempotencyKeys(50_000),
    ]
  }
}
