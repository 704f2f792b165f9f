@testable import Events

extension Rows {
  /// 200,000 events in 2,000 topics, of which one has more entries than the log keeps, and the devices and alerts of
  /// 100,000 users.
  static let events = Rows(service: "events", migrations: eventsMigrations) { rows in
    [
      """
      insert into event (position, id, name, payload, happened_at, stored_at)
      select n, \(rows.id("n", Kind.message)), 'task_changed', '{}', \(rows.ago(age)), \(rows.ago(age))
      from \(rows.numbers(200_000))
      """,
      "insert into topic (name, seq) select 'lists:' || n, 100 from \(rows.numbers(2000))",
      """
      insert into topic_event (topic, seq, position)
      select 'lists:' || ((n - 1) % 2000 + 1), (n - 1) / 2000 + 1, n from \(rows.numbers(200_000))
      """,
      "insert into topic (name, seq) values ('lists:9999', 10100)",
      "insert into topic_event (topic, seq, position) select 'lists:9999', n, n + 1000 from \(rows.numbers(10_100))",
      """
      insert into topic_grant (topic, user_id, seq, position)
      select 'lists:' || (n % 2000 + 1), \(rows.id("n")), 10, n * 10 from \(rows.numbers(20_000))
      """,
      "update feed set position = 200000",
      "insert into presence_replica (id, expires_at) values ('gone', \(rows.ago("60")))",
      """
      insert into presence (ref, topic, key, meta, replica)
      select 'ref' || n, 'lists:' || (n % 2000 + 1), 'key' || n, '{}', 'gone' from \(rows.numbers(20_000))
      """,
      "insert into presence_replica (id, expires_at) values ('another', \(rows.ago("-60")))",
      """
      insert into open_connection (replica, number, user_id)
      select case when n % 4 = 0 then 'gone' else 'another' end, n, \(rows.id("n % 10000"))
      from \(rows.numbers(40_000))
      """,
      """
      insert into open_topic (topic, user_id, replica)
      select 'lists:' || ((n + n / 10000 * 500) % 2000 + 1), \(rows.id("n % 10000")),
        case when n % 4 = 0 then 'gone' else 'another' end
      from \(rows.numbers(40_000))
      """,
    ] + notifications(rows)
  }

  /// The first events are older than a day.
  private static let age = "case when n <= 300 then 90000 else (200000 - n) / 3 end"

  private static func notifications(_ rows: RowGenerator) -> [String] {
    [
      """
      insert into device (id, user_id, session_id, token, platform, signed_out_at, created_at, updated_at)
      select \(rows.id("n", Kind.device)), \(rows.id("n")), \(rows.id("n", Kind.session)), 'token ' || n, 'ios',
        case when n % 100 = 0 then \(rows.ago("n")) end, \(rows.ago("n")), \(rows.ago("n"))
      from \(rows.numbers(100_000))
      """,
      "insert into device_number (device_id) select id from device order by id",
      """
      insert into notification_preference (user_id, push_enabled, disabled_kinds, quiet_enabled, quiet_start, quiet_end,
        updated_at)
      select \(rows.id("n")), true, '', false, 1320, 420, \(rows.ago("n")) from \(rows.numbers(20_000))
      """,
      """
      insert into muted_group (user_id, group_id, muted_at)
      select \(rows.id("n")), \(rows.id("n % 5000", Kind.group)), \(rows.ago("n")) from \(rows.numbers(20_000))
      """,
      "insert into unread_count (user_id, notifications) select \(rows.id("n")), 3 from \(rows.numbers(50_000))",
      """
      insert into alert (event_id, user_id, is_sent, created_at)
      select \(rows.id("n", Kind.message)), \(rows.id("n % 20000")), true, \(rows.ago("n * 2"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into alert_thread (user_id, name, collapse_id, started_at)
      select \(rows.id("n")), 'list_id:7', 'collapse', \(rows.ago("n")) from \(rows.numbers(20_000))
      """,
      """
      insert into held_alert (device_id, until, event_id)
      select \(rows.id("n", Kind.device)), \(rows.ago("n * 20")), \(rows.id("n", Kind.message))
      from \(rows.numbers(20_000))
      """,
    ]
  }
}
