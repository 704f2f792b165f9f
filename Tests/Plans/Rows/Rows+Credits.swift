@testable import Credits

extension Rows {
  /// A million postings: five operations of each of 100,000 users, each with a posting of the system.
  static let credits = Rows(service: "credits", migrations: creditsMigrations) { rows in
    [
      """
      insert into ledger_account (id, kind, balance, lifetime_earned, posting_count, opened_at, is_welcomed)
      select cast(\(rows.id("n")) as text), 'user', 50, 50, 5, \(rows.ago("n * 60")), true
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
      rows.idempotencyKeys(50_000),
    ]
  }
}
