@testable import Invites

extension Rows {
  /// 100,000 invites, a third of them open, and as many uses.
  static let invites = Rows(service: "invites", migrations: invitesMigrations) { rows in
    [
      """
      insert into invite (id, way, kind, destination_id, secret_hash, role, inviter_id, state, uses_max, uses_count,
        created_at, expires_at, ended_at, sealed_secret)
      select \(rows.id("n", Kind.invite)), case when n % 2 = 0 then 'link' else 'text' end,
        case n % 3 when 0 then 'collection' when 1 then 'group' else 'list' end,
        case n % 3 when 0 then cast(\(rows.id("n % 20000 + 1", Kind.collection)) as text)
          when 1 then cast(\(rows.id("n % 20000 + 1", Kind.group)) as text) else cast(n as text) end,
        \(rows.bytes("'secret ' || n")), 'editor', \(rows.id("n % 50000 + 1")),
        case when n % 9 < 3 then 'pending' else 'accepted' end, 1, case when n % 9 < 3 then 0 else 1 end,
        \(rows.ago("n * 20")), \(rows.ago("n * 20 - 2592000")),
        case when n % 9 < 3 then null else \(rows.ago("n * 20")) end,
        \(rows.bytes("'sealed'"))
      from \(rows.numbers(100_000))
      """,
      "insert into list_invite_number (invite_id) select id from invite where kind = 'list' order by id",
      """
      insert into inviter (user_id, touched_at) select \(rows.id("n")), \(rows.ago("n")) from \(rows.numbers(50_000))
      """,
      """
      insert into invite_use (id, invite_id, user_id, state, claimed_at, answered_at)
      select \(rows.id("n", Kind.inviteUse)), \(rows.id("n", Kind.invite)), \(rows.id("n % 100000 + 1")), 'joined',
        \(rows.ago("n")), \(rows.ago("n"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into texted (group_id, phone_hash, texted_at)
      select \(rows.id("n % 20000 + 1", Kind.group)), \(rows.bytes("'phone ' || n")), \(rows.ago("n"))
      from \(rows.numbers(50_000))
      """,
      """
      insert into checked_number (user_id, phone_hash, checked_at)
      select \(rows.id("n % 1000 + 1")), \(rows.bytes("'phone ' || n")), \(rows.ago("n / 3"))
      from \(rows.numbers(200_000))
      """,
      rows.sentMessages(100_000), rows.postponedMessages(200), rows.idempotencyKeys(50_000), rows.quotas(100_000),
    ]
  }
}
