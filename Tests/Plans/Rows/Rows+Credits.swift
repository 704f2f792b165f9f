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
    ] + billing(rows) + appStore(rows)
  }

  /// What is known of 100,000 subscriptions of the App Store, and of as many users and purchases.
  private static func appStore(_ rows: RowGenerator) -> [String] {
    [
      """
      insert into apple_original (original_id, user_id, claimed_at)
      select 'original ' || n, case when n > 50000 then \(rows.id("n")) end,
        case when n > 50000 then \(rows.ago("n * 60")) end
      from \(rows.numbers(100_000))
      """,
      """
      insert into apple_unowned_report (original_id, report, stored_at)
      select 'original ' || ((n - 1) / 2 + 1), 'report ' || n, \(rows.ago("n * 60")) from \(rows.numbers(50_000))
      """,
      """
      insert into apple_subscription (subscription_id, bundle_id, environment, phase, phase_at)
      select 'original ' || n, 'com.example.kith', 'Production', 2, \(rows.ago("n * 60"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into apple_consent (user_id, is_given, changed_at)
      select \(rows.id("n")), true, \(rows.ago("n * 60")) from \(rows.numbers(100_000))
      """,
      """
      insert into apple_consumption_answer (transaction_id, answered_at)
      select 'transaction ' || n, \(rows.ago("n * 60")) from \(rows.numbers(100_000))
      """,
    ]
  }

  /// 100,000 purchases and as many events, subscriptions and customers.
  private static func billing(_ rows: RowGenerator) -> [String] {
    [
      """
      insert into billing_purchase (id, provider, transaction_id, user_id, product_id, quantity, credits, environment,
        status, purchased_at, recorded_at)
      select \(rows.id("n")), 'stripe', 'pi_row_' || n, \(rows.id("n")), 'pack', 1, 10, 'test', 'paid',
        \(rows.ago("n * 60")), \(rows.ago("n * 60"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into billing_refund (provider, transaction_id, refund_id, amount, total, is_final, state_at)
      select 'stripe', 'pi_row_' || n, 'ch_' || n, 0, 10, false, \(rows.ago("n * 60")) from \(rows.numbers(20_000))
      """,
      """
      insert into billing_event (id, provider, event_id, kind, sealed, status, user_id, received_at, settled_at)
      select \(rows.id("n")), 'stripe', 'evt_' || n, 'invoice.paid', \(rows.bytes("'body'")), 'done', \(rows.id("n")),
        \(rows.ago("n * 10")), \(rows.ago("n * 10"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into billing_subscription (provider, subscription_id, user_id, product_id, tier, level, status, will_renew,
        environment, state_at)
      select 'stripe', 'sub_row_' || n, \(rows.id("n")), 'plan', 'creator', 2, 'canceled', false, 'test',
        \(rows.ago("n * 60"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into billing_customer (provider, user_id, customer_id, created_at)
      select 'stripe', \(rows.id("n + 10")), 'cus_row_' || n, \(rows.ago("n * 60")) from \(rows.numbers(99_000))
      """,
    ]
  }
}
