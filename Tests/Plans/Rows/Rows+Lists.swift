@testable import Lists

extension Rows {
  /// 100,000 lists of ten tasks, each with a member besides its owner.
  static let lists = Rows(service: "lists", migrations: listsMigrations) { rows in
    [
      """
      insert into list (owner_id, name, visibility, color, task_count, completed_count, member_count, revision, version,
        created_at, updated_at, deleted_at)
      select \(rows.id("n")), 'List ' || n, 'private', 'blue', 10, 3, 1, 10, 1, \(rows.ago("n")), \(rows.ago("n")),
        case when n % 100 = 0 then \(rows.ago("n")) end
      from \(rows.numbers(100_000))
      """,
      """
      insert into membership (list_id, user_id, role, named_by, named_as, created_at, updated_at)
      select n, \(rows.id("n % 100000 + 1")), 'editor', \(rows.id("n")), 'u' || n, \(rows.ago("n")), \(rows.ago("n"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into task (list_id, creator_id, assignee_id, title, words, status, completed_at, due_at, priority, starred,
        strict_mode, position, revision, created_at, updated_at, remind_at)
      select n % 100000 + 1, \(rows.id("n % 100000 + 1")), case when n % 10 = 1 then \(rows.id("n % 100000 + 1")) end,
        'Task ' || n, 'task ' || n, case when n % 7 < 3 then 'done' else 'pending' end,
        case when n % 7 < 3 then \(rows.ago("n % 86400")) end, case when n % 7 < 5 then \(rows.ago("n % 86400")) end,
        0, false, false, n / 100000 * 65536, n / 100000 + 1, \(rows.ago("n % 86400")), \(rows.ago("n % 86400")),
        case when n % 2500 = 4 then \(rows.ago("n % 50000 - 47400")) end
      from \(rows.numbers(1_000_000))
      """,
      """
      insert into task_event (task_id, kind, reason, user_id, occurred_at)
      select n, 'completed', 'why', \(rows.id("n % 100000 + 1")), \(rows.ago("n % 86400")) from \(rows.numbers(200_000))
      """,
      """
      insert into tag (user_id, name, name_folded, created_at, updated_at)
      select \(rows.id("n")), 'Errands', 'errands', \(rows.ago("n")), \(rows.ago("n")) from \(rows.numbers(100_000))
      """,
      "insert into task_tag (task_id, tag_id) select n, n % 100000 + 1 from \(rows.numbers(100_000))",
      "insert into list_tag (list_id, tag_id) select n, n from \(rows.numbers(50_000))",
      """
      insert into named_people (user_id, day, taken) select \(rows.id("n")), \(rows.day("0")), 1
      from \(rows.numbers(20_000))
      """,
      """
      insert into completion_day (user_id, day)
      select \(rows.id("(n - 1) / 4 + 1")), \(rows.day("n % 4")) from \(rows.numbers(200_000))
      """,
      """
      insert into removal (list_id, user_id, removed_at, removed_by)
      select n, \(rows.id("n + 5")), \(rows.ago("n")), \(rows.id("n")) from \(rows.numbers(20_000))
      """,
      """
      insert into invite_use (invite_id, user_id, claim_id, used_at)
      select cast(\(rows.id("n", Kind.invite)) as text), \(rows.id("n")), \(rows.id("n", Kind.inviteUse)),
        \(rows.ago("n"))
      from \(rows.numbers(50_000))
      """,
      rows.idempotencyKeys(50_000),
    ]
  }
}
