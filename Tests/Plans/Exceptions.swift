/// A statement, by how it begins, to which a rule of ``PlanTests`` does not apply.
struct StatementException {
  /// On one line; `$1`, `$2`, … for bindings.
  let prefix: String
  let reason: String

  init(_ prefix: String, because reason: String) {
    self.prefix = prefix
    self.reason = reason
  }

  /// - Parameter text: a statement on one line.
  func applies(to text: String) -> Bool { text.hasPrefix(prefix) }

  /// May read all rows of a large table.
  static let scans: [StatementException] =
    [
      .init(
        "with recursive packed (hashes) as ( select phone_hash from checked_number where 1 = 0 union all",
        because: "SQLite plans a scan of the half that only names the column, and reads nothing: 1 = 0"),
      .init(
        "delete from presence where ref in ( select ref from presence where replica in (",
        because: "a thousand at a time of a replica that has ended, which are a good part of all who are present"),
      .init("select * from device order by id limit $1", because: "the first rows by the primary key"),
      .init(
        "select position, stored_at from event order by position limit $1",
        because: "the first rows by the primary key"),
      .init(
        newestTimepoints, because: "the newest by an index that has them in this order, and no more than it counts"),
      .init(pageOfTimepoints, because: "the same for a page of them"),
    ] + deletedBatches

  /// PostgreSQL reads a table that has few rows for the size of a batch from its beginning to its end, and looks up the
  /// batch by the index in one that has many.
  private static let deletedBatches: [StatementException] = [
    "delete from alert where (event_id, user_id) in (", "delete from alert_thread where (user_id, name) in (",
    "delete from held_alert where (device_id, until, event_id) in (",
    "delete from device where id in ( select id from device where signed_out_at",
    "delete from open_connection where (replica, number) in (",
    "delete from open_topic where (topic, user_id, replica) in (",
    "delete from charge where id in ( select id from charge where settled_at",
  ].map { .init($0, because: "a batch of few rows") }

  private static let pageOfTimepoints = """
    select id, owner_id, query, slug, status, visibility, preset, scene, image_bytes, failure, request_context, \
    credits_charged, generation_ms, sequence_id, parent_id, direction, blob_folder, blob_written_at, created_at, \
    ended_at, deleted_at from timepoint where id in ( select id from (select * from
    """
  private static let newestTimepoints =
    "select count(*) as total from (select * from (select id, created_at from timepoint where visibility = 'public'"

  /// May read more than a hundred times what they return.
  static let readsMore: [StatementException] =
    [
      .init(
        "select creator_id as user_id from task where list_id = $1",
        because: "few people of the many tasks of one list, whose number has a limit"),
      .init(
        "select distinct due_at from task where list_id = $1",
        because: "the changes of one list, whose number of tasks has a limit"),
      .init(
        "select distinct account_id from credit_hold where state = 'open'",
        because: "the audit looks at the accounts that hold something, by an index that has no others"),
      .init(
        "select kind, count(*) as waiting, min(created_at) as oldest from outbox",
        because: "a metric that counts the messages which wait, by an index that has no others"),
      .init(
        "select task.id, task.list_id, task.created_at from task join list on list.id = task.list_id",
        because: "the erasure of a user looks at all tasks that the user has created"),
      .init(newestTimepoints, because: "a count ends at 10,000"),
      .init(
        "update eta_share set is_active = false where id in (",
        because: "the shares that are active now, by an index that has no others"),
    ] + deletedBatches

  /// Are not executed by ``Calls``.
  static let notExecuted: [StatementException] = [
    .init("insert into topic (name, seq) values", because: "for any number of rows, which it finds by the key"),
    .init("insert into event (position, id, name,", because: "for any number of rows; it reads nothing"),
    .init("insert into topic_event (topic, seq, position) values", because: "for any number of rows; it reads nothing"),
    .init(
      "insert into topic_grant (topic, user_id, seq, position) values",
      because: "for any number of rows, which it finds by the key"),
    .init("insert into feed (id, position, epoch)", because: "once, by the migration that creates the log"),
    .init("select date_trunc('milliseconds', clock_timestamp())", because: "on PostgreSQL only"),
    .init("select strftime('%Y-%m-%dT%H:%M:%fZ', 'now')", because: "on SQLite only"),
    .init("set local synchronous_commit", because: "on PostgreSQL only, where it reads nothing"),
    .init("select pg_notify(", because: "on PostgreSQL only, where it reads nothing"),
    .init("select pg_advisory_xact_lock(", because: "on PostgreSQL only, where it reads nothing"),
    .init("insert into conversation_message", because: "on PostgreSQL only, for messages of more than 7,800 bytes"),
    .init("select * from (select id, created_at from timepoint where", because: "a part of other statements"),
    .init(
      #"update \(table) set due_at = \(end) where \(key) = "#,
      because: "by the primary key, when work takes longer than a part of its lease"),
    .init("show server_version", because: "it reads no table"),
    .init(
      #"select id from ledger_account where id > \(id) and kind = 'user'"#,
      because: "by the primary key, when the pass over the whole ledger has come to the accounts"),
    .init(
      #"select id from invite_use where invite_id = \(id) and state = 'claimed' limit 1"#,
      because: "only in the moment between a join and a text that waits; by the index of an invite's uses"),
  ]
}
