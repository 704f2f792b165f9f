@testable import Events

extension Rows {
  /// 200,000 events in 2,000 topics, of which one has more entries than the log keeps.
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
      "update feed set position = 200000",
      "insert into presence_replica (id, expires_at) values ('gone', \(rows.ago("60")))",
      """
      insert into presence (ref, topic, key, meta, replica)
      select 'ref' || n, 'lists:' || (n % 2000 + 1), 'key' || n, '{}', 'gone' from \(rows.numbers(20_000))
      """,
    ]
  }

  /// The first events are older than a day.
  private static let age = "case when n <= 300 then 90000 else (200000 - n) / 3 end"
}
