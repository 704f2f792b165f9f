import Database
import Foundation
import Wire

/// All statements on `event_outbox`, the events that are not delivered yet, and on `event_sender`, the lease of the
/// replica that delivers them.
///
/// The lease saves the others the work. The order does not depend on it: every sender sends the oldest events first,
/// and the events service stores an event once.
enum EventOutboxStore {
  static func insert(_ event: NewEvent, of user: UserID?, on db: any Connection) throws {
    let text = try event.text()
    try db.enqueue("insert into event_outbox (user_id, event, recorded_at) values (\(user), \(text), \(event.at))")
  }

  /// Whether there is anything to deliver.
  static func hasEvents(on db: any Connection) throws -> Bool {
    try db.row("select position from event_outbox order by position limit 1") != nil
  }

  /// Deletes what was delivered, takes or renews the lease, and returns the next events: one round trip for each batch.
  /// When there are none the lease is released. That is asked only then, as it looks for events once more, past all
  /// rows that were deleted and are still in the index.
  ///
  /// A replica whose events another one has to deliver does not wait for long. The update of the lease locks its row
  /// also where it changes nothing, so either this replica gets the lease that the other is about to release, or its
  /// events are committed before the other looks for more.
  static func next(
    after delivered: [Int], lease: String, until end: Date, at now: Date, limit: Int, on db: any Connection
  ) throws -> EventBatch {
    try delete(delivered, on: db)
    let found = try db.rows(of: [
      """
      update event_sender set lease = case when lease is null or leased_until <= \(now) then \(lease) else lease end,
        leased_until = case when lease is null or lease = \(lease) or leased_until <= \(now) then \(end)
          else leased_until end
      where one = 1 returning lease, leased_until
      """,
      "select position, event, recorded_at from event_outbox order by position limit \(limit)",
    ])
    let hasLease = try found[0].first?.get("lease") == lease
    let isReleased = try hasLease && found[1].isEmpty && releaseIfEmpty(lease, on: db)
    return EventBatch(
      events: try found[1].map(RecordedEvent.init), hasLease: hasLease,
      leasedUntil: try found[0].first?.get("leased_until") ?? end, isReleased: isReleased)
  }

  /// - Returns: false when there are events by now.
  private static func releaseIfEmpty(_ lease: String, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update event_sender set lease = null
      where one = 1 and lease = \(lease) and not exists (select position from event_outbox order by position limit 1)
      """) > 0
  }

  static func release(_ lease: String, after delivered: [Int], on db: any Connection) throws {
    try delete(delivered, on: db)
    try db.change("update event_sender set lease = null where one = 1 and lease = \(lease)")
  }

  /// The oldest events that are no resets.
  static func oldest(limit: Int, on db: any Connection) throws -> [RecordedEvent] {
    try db.rows(
      """
      select position, event, recorded_at from event_outbox where not is_reset order by position limit \(limit)
      """
    ).map(RecordedEvent.init)
  }

  /// The oldest events beyond the newest `max`.
  static func excess(over max: Int, limit: Int, on db: any Connection) throws -> [RecordedEvent] {
    let newest = try db.row("select position from event_outbox order by position desc limit 1 offset \(max)")
    guard let newest else { return [] }
    return try db.rows(
      """
      select position, event, recorded_at from event_outbox where position <= \(newest.get("position", as: Int.self))
      order by position limit \(limit)
      """
    ).map(RecordedEvent.init)
  }

  /// Whether an event waits that lets the user into one of the topics. Such an event is one of that user, or the reset
  /// that has taken its place. One that is among so many that not all are looked at is taken to be there.
  static func hasGrant(of user: UserID, to topics: Set<String>, on db: any Connection) throws -> Bool {
    let named = "%\(user)%"
    let found = try db.rows(of: [
      """
      select position, event, recorded_at from event_outbox where user_id = \(user)
      order by position limit \(lookedAtMax)
      """,
      """
      select position, event, recorded_at from event_outbox where is_reset and event like \(named)
      order by position limit \(lookedAtMax)
      """,
    ])
    if found.contains(where: { $0.count == lookedAtMax }) { return true }
    return try found.joined().contains { row in
      try RecordedEvent(row).access().contains { $0.mayRead && $0.user == user && topics.contains($0.topic) }
    }
  }

  private static let lookedAtMax = 100

  static func events(of user: UserID, on db: any Connection) throws -> [RecordedEvent] {
    try db.rows("select position, event, recorded_at from event_outbox where user_id = \(user) order by position")
      .map(RecordedEvent.init)
  }

  /// Replaces events by one reset of their topics, or by as many as it takes for all topics. A reset has the position
  /// of one of the last events: after what it replaces, and before what follows. Rights that began or ended with the
  /// events do so with the reset.
  ///
  /// - Parameter erased: a user of whom nothing stays; their sessions have ended.
  static func withdraw(
    _ events: [RecordedEvent], erasing erased: UserID? = nil, at now: Date, on db: any Connection
  ) throws {
    let all = try events.reduce(into: Set<String>()) { $0.formUnion(try $1.topics()) }
    let topics = all.sorted()
    let chunks = stride(from: 0, to: topics.count, by: FeedEvent.topicsMax).map {
      Array(topics[$0..<min($0 + FeedEvent.topicsMax, topics.count)])
    }
    // There are never more chunks than events, as no event has more topics than a chunk.
    let kept = events.suffix(chunks.count)
    let access = try events.flatMap { try $0.access() }.summary.filter { $0.user != erased }
    for (index, (event, topics)) in zip(kept, chunks).enumerated() {
      // In the first what concerns topics of none of them.
      let own = access.filter { topics.contains($0.topic) || index == 0 && !all.contains($0.topic) }
      let reset = NewEvent(
        id: .new(at: now), topics: topics, name: EventFeed.reset, payload: [:], at: now,
        access: own.isEmpty ? nil : own)
      let text = try reset.text()
      try db.change(
        """
        update event_outbox set event = \(text), user_id = null, is_reset = \(true)
        where position = \(event.position)
        """)
    }
    try delete(events.dropLast(kept.count).map(\.position), on: db)
  }

  static func delete(_ positions: [Int], on db: any Connection) throws {
    for positions in positions.statementChunks {
      try db.enqueue("delete from event_outbox where position in (\(list: positions))")
    }
  }
}

/// An event in the table.
struct RecordedEvent: Sendable {
  let position: Int
  /// The JSON of a ``FeedEvent``.
  let encoded: String
  let recordedAt: Date

  init(_ row: Row) throws {
    position = try row.get("position")
    encoded = try row.get("event")
    recordedAt = try row.get("recorded_at")
  }

  private struct Head: Decodable {
    let name: String
    let topics: [String]
    let access: [AccessChange]?
  }

  private func head() throws -> Head { try JSON.decode(Head.self, from: Data(encoded.utf8)) }

  func topics() throws -> [String] { try head().topics }
  func access() throws -> [AccessChange] { try head().access ?? [] }
  func isReset() throws -> Bool { try head().name == EventFeed.reset }
}

/// The next events to deliver.
struct EventBatch: Sendable {
  let events: [RecordedEvent]
  /// False while another replica delivers.
  let hasLease: Bool
  let leasedUntil: Date
  /// There was nothing to deliver, and the lease is free.
  let isReleased: Bool
}

extension [AccessChange] {
  private struct Right: Hashable {
    let topic: String
    let user: UserID
  }

  /// Of each right the last end, and the beginning after it.
  fileprivate var summary: [AccessChange] {
    var (rights, changes) = ([Right](), [Right: [AccessChange]]())
    for change in self {
      let right = Right(topic: change.topic, user: change.user)
      if changes[right] == nil { rights.append(right) }
      let earlier = change.mayRead ? changes[right] ?? [] : []
      changes[right] = earlier.last?.mayRead == true ? earlier : earlier + [change]
    }
    return rights.flatMap { changes[$0] ?? [] }
  }
}
