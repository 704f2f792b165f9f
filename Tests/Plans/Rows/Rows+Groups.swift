@testable import Groups

extension Rows {
  /// 20,000 groups of five, each of whom has sent a photo today, unless the group is closed, and as many collections.
  static let groups = Rows(service: "groups", migrations: groupsMigrations) { rows in
    [
      """
      insert into social_group
        (id, name, invite_code, time_zone, member_count, member_count_max, created_by, created_at, updated_at,
          closed_at)
      select \(rows.id("n", Kind.group)), 'Group ' || n, 'code ' || n, 'Etc/GMT',
        case when n % 100 = 0 then 0 else 5 end, 12, \(rows.id("n")), \(rows.ago("n * 60")), \(rows.ago("n")),
        case when n % 100 = 0 then \(rows.ago("n")) end
      from \(rows.numbers(20_000))
      """,
      """
      insert into membership (id, group_id, user_id, role, state, joined_at)
      select \(rows.id("n", Kind.member)), \(rows.id("(n - 1) % 20000 + 1", Kind.group)), \(rows.id("n")),
        case when n <= 20000 then 'owner' else 'member' end, 'active', \(rows.ago("n * 10"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into person (user_id, group_count, group_count_max)
      select \(rows.id("n")), 1, 50 from \(rows.numbers(100_000))
      """,
      """
      insert into photo (id, group_id, sender_id, day, state, created_at, expires_at, width, height, size_bytes)
      select \(rows.id("n", Kind.photo)), \(rows.id("(n - 1) % 20000 + 1", Kind.group)), \(rows.id("n")),
        \(rows.day("0")), 'ready', \(rows.ago("n % 40000")), \(rows.ago("n % 40000 - 172800")), 100, 100, 1000
      from \(rows.numbers(100_000)) where n % 100 > 0
      """,
      """
      insert into collection (id, owner_id, name, member_count, member_count_max, created_at, updated_at)
      select \(rows.id("n", Kind.collection)), \(rows.id("n")), 'Marbles', 2, 100, \(rows.ago("n")), \(rows.ago("n"))
      from \(rows.numbers(20_000))
      """,
      """
      insert into collection_member (id, collection_id, user_id, role, created_at, updated_at)
      select \(rows.id("n", Kind.collectionMember)), \(rows.id("(n - 1) % 20000 + 1", Kind.collection)),
        \(rows.id("n")),
        case when n <= 20000 then 'OWNER' else 'EDITOR' end, \(rows.ago("n")), \(rows.ago("n"))
      from \(rows.numbers(40_000))
      """,
      """
      insert into block (blocker_id, blocked_id, created_at)
      select \(rows.id("n")), \(rows.id("n + 50000")), \(rows.ago("n")) from \(rows.numbers(20_000))
      """,
      """
      insert into device (id, user_id, token, platform, created_at, updated_at)
      select \(rows.id("200000 + n", Kind.device)), \(rows.id("n")), 'earlier token ' || n, 'ios', \(rows.ago("n")),
        \(rows.ago("n"))
      from \(rows.numbers(1000))
      """,
      "insert into device_number (device_id) select id from device order by id",
      """
      insert into invite_use (invite_id, user_id, claim_id, used_at)
      select \(rows.id("n", Kind.invite)), \(rows.id("n")), \(rows.id("n", Kind.inviteUse)), \(rows.ago("n"))
      from \(rows.numbers(50_000))
      """,
      """
      insert into collection_removal (collection_id, user_id, removed_at)
      select \(rows.id("n", Kind.collection)), \(rows.id("n + 50000")), \(rows.ago("n")) from \(rows.numbers(20_000))
      """,
      """
      insert into stored_object (id, bucket, path, owner_id, file_id, size_bytes, size_bytes_in_all, cache_seconds,
        created_at, updated_at)
      select \(rows.id("n", Kind.storedObject)), case when n % 4 = 0 then 'avatars' else 'photos' end,
        cast(\(rows.id("(n - 1) % 50000 + 1")) as text) || '/' || n || '.jpg',
        \(rows.id("(n - 1) % 50000 + 1")), \(rows.id("n", Kind.storedFile)), 1000, 1200, 3600, \(rows.ago("n")),
        \(rows.ago("n"))
      from \(rows.numbers(200_000))
      """,
      """
      insert into stored_object_use (owner_id, object_count, size_bytes)
      select \(rows.id("n")), 4, 4800 from \(rows.numbers(50_000))
      """,
      """
      insert into discarded_file (file_id, delete_at)
      select \(rows.id("n", Kind.discardedFile)), \(rows.ago("-n - 100000")) from \(rows.numbers(20_000))
      """,
      rows.sentMessages(100_000), rows.postponedMessages(200), rows.idempotencyKeys(50_000), rows.quotas(50_000),
    ]
  }
}
