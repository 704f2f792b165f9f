@testable import Auth

extension Rows {
  /// 100,000 accounts with a number and an address, and two sessions each.
  static let auth = Rows(service: "auth", migrations: authMigrations) { rows in
    [
      """
      insert into account (id, email, display_name, created_at, last_login_at, deactivated_at)
      select \(rows.id("n")), 'u' || n || '@example.com', 'User ' || n, \(rows.ago("n * 60")), \(rows.ago("n * 10")),
        case when n % 1000 = 0 then \(rows.ago("n * 10")) end
      from \(rows.numbers(100_000))
      """,
      """
      insert into identity (issuer, subject, account_id, is_email_verified, is_private_email, created_at)
      select 'phone', '+4740' || cast(100000 + n as text), \(rows.id("n")), false, false, \(rows.ago("n * 60"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into identity (issuer, subject, account_id, email, is_email_verified, is_private_email, created_at)
      select 'email', 'u' || n || '@example.com', \(rows.id("n")), 'u' || n || '@example.com', true, false,
        \(rows.ago("n * 60"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into identity (issuer, subject, account_id, email, is_email_verified, is_private_email, created_at,
        is_email_disabled)
      select 'https://appleid.apple.com', 'apple ' || n, \(rows.id("n + 1000")),
        'a' || n || '@privaterelay.appleid.com', true, true, \(rows.ago("n * 60")), n % 1000 = 0
      from \(rows.numbers(50_000))
      """,
      """
      insert into identity (issuer, subject, account_id, email, is_email_verified, is_private_email, created_at)
      select 'developer', 'u' || n || '@example.com', \(rows.id("n")), 'u' || n || '@example.com', true, false,
        \(rows.ago("n * 60"))
      from \(rows.numbers(100))
      """,
      """
      insert into identity (issuer, subject, account_id, is_email_verified, is_private_email, created_at)
      select 'https://issuer.example', 'linked ' || n, \(rows.id("n")), false, false, \(rows.ago("n * 60"))
      from \(rows.numbers(100))
      """,
      """
      insert into identity (issuer, subject, account_id, email, is_email_verified, is_private_email, created_at)
      select 'external', 'outside|' || n, \(rows.id("n * 5")), 'e' || n || '@example.com', true, false,
        \(rows.ago("n * 60"))
      from \(rows.numbers(20_000))
      """,
      """
      insert into session (id, account_id, opened_at, tokens_until, last_seen_at, ended_at, noted_at, end_reason)
      select \(rows.id("n", Kind.session)), \(rows.id("n % 100000 + 1")), \(rows.ago("n * 12 + 900")),
        \(rows.ago("n * 12")), \(rows.ago("n * 12")), case when n % 10 = 0 then \(rows.ago("n * 12")) end,
        case when n % 10 = 0 then \(rows.ago("n * 12")) end, case when n % 10 = 0 then 'signed_out' end
      from \(rows.numbers(200_000))
      """,
      """
      insert into refresh_token (hash, session_id, issued_at, expires_at, used_at, successor_hash)
      select \(rows.bytes("'token ' || n")), \(rows.id("n % 200000 + 1", Kind.session)), \(rows.ago("n * 6")),
        \(rows.ago("n * 6 - 2592000")), case when n > 200000 then \(rows.ago("n * 6")) end,
        case when n > 200000 then \(rows.bytes("'successor ' || n")) end
      from \(rows.numbers(400_000))
      """,
      """
      insert into password (account_id, hash, changed_at)
      select \(rows.id("n")), 'not a hash', \(rows.ago("n")) from \(rows.numbers(50_000))
      """,
      """
      insert into challenge (id, kind, subject_hash, account_id, code_hash, token_hash, content, created_at, expires_at)
      select \(rows.id("n", Kind.challenge)), 'email', \(rows.bytes("'subject ' || n")), \(rows.id("n")),
        \(rows.bytes("'code'")), \(rows.bytes("'link ' || n")), \(rows.bytes("'{}'")), \(rows.ago("60")),
        \(rows.ago("n % 100 - 3600"))
      from \(rows.numbers(50_000))
      """,
      """
      insert into known_address (account_id, address_hash, seen_at)
      select \(rows.id("n")), \(rows.bytes("'address'")), \(rows.ago("n")) from \(rows.numbers(100_000))
      """,
      """
      insert into erasure (account_id, asked_at, begun_at, finished_at)
      select \(rows.id("n * 100")), \(rows.ago("n")), \(rows.ago("n")), \(rows.ago("n")) from \(rows.numbers(1000))
      """,
      """
      insert into apple_token (subject, app, account_id, sealed, granted_at)
      select 'apple ' || n, 'com.example.kith', \(rows.id("n")), \(rows.bytes("'sealed'")), \(rows.ago("n"))
      from \(rows.numbers(20_000))
      """,
      """
      insert into unlinked (issuer, subject, account_id, unlinked_at)
      select 'https://issuer.example', 'gone ' || n, \(rows.id("n")), \(rows.ago("n * 100"))
      from \(rows.numbers(20_000))
      """,
      """
      insert into new_email (account_id, address, sent_at, expires_at)
      select \(rows.id("n")), 'new' || n || '@example.com', \(rows.ago("60")), \(rows.ago("n % 100 - 3600"))
      from \(rows.numbers(20_000))
      """,
      rows.sentMessages(100_000), rows.sentMessages(20_000, in: "inbox"), rows.postponedMessages(200),
      rows.idempotencyKeys(20_000), rows.quotas(100_000),
    ]
  }
}
