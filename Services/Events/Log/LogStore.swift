import Database
import Foundation
import Web
import Wire

/// Appends events to the log and reads it.
struct LogStore: Sendable {
  let database: any Database
  /// Tells the notifications of this process from those of others.
  var replica = ""
  /// How many entries a topic keeps at least.
  var entriesMax = 10_000
  /// After how many entries more the surplus is deleted.
  var trimInterval = 1000
  let furthestRead = FurthestRead()

  static let pageSize = 256
  /// The PostgreSQL channel on which replicas learn that events were appended. The table is the truth: a notification
  /// that is lost only delays them.
  static let notifications = "kith_events"

  /// Appends the events that are not in the log yet, in one transaction. Safe to repeat.
  ///
  /// - Parameter onAppended: called with the new events, in the same transaction.
  /// - Returns: those that were new.
  func append(
    _ events: [EncodedFeedEvent], at now: Date,
    onAppended: @escaping @Sendable ([EncodedFeedEvent], any Connection) throws -> Void = { _, _ in }
  ) async throws -> AppendedBatch {
    try await database.write { [engine = database.engine, furthestRead] db in
      let known = try Self.lock(events.map(\.id), lastSeen: furthestRead.end, on: db)
      var seen = known
      let new = events.filter { seen.insert($0.id).inserted }
      guard !new.isEmpty else { return AppendedBatch() }
      let end = try End(
        try db.row("update feed set position = position + \(new.count) where id = 1 returning position, epoch"))
      let numbers = try Self.lastNumbers(of: new, on: db)
      let batch = AppendedBatch(try insert(new, after: end.position - new.count, numbers, at: now, on: db), end: end)
      try onAppended(new, db)
      if engine == .postgres { try db.enqueue("select pg_notify(\(Self.notifications), \(replica))") }
      return batch
    }
  }

  /// Locks the log, so that everything that follows in the transaction is serialized. A log that was set back behind
  /// what was read of it begins a new epoch, as the numbers that are given now were given before.
  ///
  /// - Parameter seen: the end that any reader of this process has seen, before this call.
  /// - Returns: those of the events that the log has.
  private static func lock(
    _ ids: [EventID], lastSeen seen: End?, on db: any Connection
  ) throws -> Set<EventID> {
    let known: [SQL] = ids.statementChunks.map { "select id from event where id in (\(list: $0))" }
    let found = try db.rows(
      of: ["update feed set position = position where id = 1 returning position, epoch"] + known)
    let end = try End(found[0].first)
    if let seen, seen.epoch == end.epoch, end.position < seen.position {
      try beginEpoch(insteadOf: end.epoch, Trace.newRequestID(), on: db)
    }
    return Set(try found.dropFirst().joined().map { try $0.get("id") })
  }

  /// Reserves numbers for the events in their topics.
  ///
  /// - Returns: the last number of each topic before these events.
  private static func lastNumbers(of events: [EncodedFeedEvent], on db: any Connection) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for event in events { for topic in event.topics { counts[topic, default: 0] += 1 } }
    return try counts.sorted { $0.key < $1.key }.statementChunks.reduce(into: [:]) { numbers, topics in
      let values = topics.map { name, count in "(\(name), \(count))" as SQL }
      let rows = try db.rows(
        """
        insert into topic (name, seq) values \(rows: values)
        on conflict (name) do update set seq = topic.seq + excluded.seq returning name, seq
        """)
      guard rows.count == topics.count else { throw DatabaseFailure.unreadable(column: "seq") }
      for row in rows {
        let name = try row.get("name", as: String.self)
        numbers[name] = try row.get("seq", as: Int.self) - counts[name, default: 0]
      }
    }
  }

  /// - Parameter before: the last number of each topic before these events.
  private func insert(
    _ events: [EncodedFeedEvent], after last: Int, _ before: [String: Int], at now: Date, on db: any Connection
  ) throws -> [AppendedEvent] {
    var numbers = before
    var grants = TopicGrants()
    var appended: [AppendedEvent] = []
    var (rows, entries) = ([SQL](), [SQL]())
    for (position, event) in zip((last + 1)..., events) {
      rows.append(
        """
        (\(position), \(event.id), \(event.name), \(event.payload), \(event.changes), \(try event.accessText),
         \(event.hiddenFromText), \(event.at), \(now))
        """)
      let own = event.topics.map { topic in
        numbers[topic, default: 0] += 1
        return AppendedEvent.Number(topic: topic, seq: numbers[topic, default: 0])
      }
      entries += own.map { "(\($0.topic), \($0.seq), \(position))" }
      appended.append(event.appended(at: position, own))
      grants.apply(event.access ?? [], ofEventOn: event.topics, numbers, at: position)
    }
    for rows in rows.statementChunks {
      try db.enqueue(
        """
        insert into event (position, id, name, payload, change, access, hidden_from, happened_at, stored_at)
        values \(rows: rows)
        """)
    }
    for rows in entries.statementChunks {
      try db.enqueue("insert into topic_event (topic, seq, position) values \(rows: rows)")
    }
    try grants.store(on: db)
    for (topic, seq) in numbers where seq / trimInterval > before[topic, default: 0] / trimInterval {
      guard seq > entriesMax else { continue }
      try db.enqueue("delete from topic_event where topic = \(topic) and seq <= \(seq - entriesMax)")
    }
    return appended
  }
}

extension EncodedFeedEvent {
  fileprivate var accessText: String? {
    get throws { try access.map { String(decoding: try JSON.encodeExact($0), as: UTF8.self) } }
  }

  fileprivate var hiddenFromText: String? { hiddenFrom.map { $0.map(\.description).joined(separator: ",") } }

  /// The event as readers of the log get it.
  fileprivate func appended(at position: Int, _ numbers: [AppendedEvent.Number]) -> AppendedEvent {
    AppendedEvent(
      position: position, numbers: numbers,
      event: LoggedEvent(
        id: id, name: name, payload: payload, changes: changes, hiddenFrom: Set(hiddenFrom ?? []), at: at),
      access: access ?? [])
  }
}
