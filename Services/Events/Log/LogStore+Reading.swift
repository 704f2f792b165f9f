import Database
import Foundation
import Wire

extension LogStore {
  /// The end of the log: the position of the last event, and the epoch.
  struct End: Sendable, Equatable {
    let position: Int
    let epoch: String
  }

  func end() async throws -> End {
    try await database.readOnce { [furthestRead] db in
      let end = try End(try db.row("select position, epoch from feed where id = 1"))
      furthestRead.note(end)
      return end
    }
  }

  /// The events after a position in the order of their positions, at most ``pageSize``, and the end of the log.
  func events(after position: Int) async throws -> (events: [AppendedEvent], end: End) {
    try await database.readOnce { db in
      let last = position + Self.pageSize
      let results = try db.rows(of: [
        "select position, epoch from feed where id = 1",
        """
        select position, id, name, payload, change, access, hidden_from, happened_at from event
        where position > \(position) and position <= \(last) order by position
        """,
        """
        select topic, seq, position from topic_event
        where position > \(position) and position <= \(last) order by position
        """,
      ])
      var numbers: [Int: [AppendedEvent.Number]] = [:]
      for row in results[2] {
        numbers[try row.get("position"), default: []]
          .append(.init(topic: try row.get("topic"), seq: try row.get("seq")))
      }
      let events = try results[1].map { row in
        let position = try row.get("position", as: Int.self)
        return AppendedEvent(
          position: position, numbers: numbers[position] ?? [], event: try LoggedEvent(row),
          access: try row.optional("access", as: String.self).map {
            try JSON.decode([AccessChange].self, from: Data($0.utf8))
          } ?? [])
      }
      return (events, try End(results[0].first))
    }
  }

  /// The last number of a topic, 0 for one without events, and the epoch.
  func top(of topic: String) async throws -> LogPosition {
    try await database.readOnce { [furthestRead] db in
      let results = try db.rows(of: [
        "select position, epoch from feed where id = 1", "select seq from topic where name = \(topic)",
      ])
      let end = try End(results[0].first)
      furthestRead.note(end)
      return LogPosition(seq: try results[1].first?.get("seq") ?? 0, epoch: end.epoch)
    }
  }

  /// The entries of a topic after a number, at most ``pageSize``. What happened before the reader was let in is a gap.
  ///
  /// - Parameter epoch: the epoch in which the number was given; nil when the reader does not know it.
  func page(of topic: String, after seq: Int, epoch: String?, for reader: UserID) async throws -> LogPage {
    try await database.readOnce { [furthestRead] db in
      let results = try db.rows(of: [
        "select position, epoch from feed where id = 1",
        "select seq from topic where name = \(topic)",
        "select seq from topic_event where topic = \(topic) order by seq limit 1",
        """
        select topic_event.seq, event.id, event.name, event.payload, event.change, event.hidden_from, event.happened_at
        from topic_event join event on event.position = topic_event.position
        where topic_event.topic = \(topic) and topic_event.seq > \(seq)
        order by topic_event.seq limit \(Self.pageSize)
        """,
        "select seq from topic_grant where topic = \(topic) and user_id = \(reader)",
      ])
      let end = try End(results[0].first)
      furthestRead.note(end)
      let current = end.epoch
      let top = try results[1].first?.get("seq", as: Int.self) ?? 0
      let kept = try results[2].first?.get("seq", as: Int.self) ?? top + 1
      let oldest = max(kept, try results[4].first.map { try $0.get("seq", as: Int.self) + 1 } ?? 0)
      guard epoch.map({ $0 == current }) ?? true, seq >= 0, seq <= top, seq >= oldest - 1 else {
        return .gap(LogGap(oldest: oldest, top: top, epoch: current))
      }
      return .entries(
        try results[3].map { LogEntry(seq: try $0.get("seq"), event: try LoggedEvent($0)) }, top: top)
    }
  }

  /// Begins a new epoch, because the database was set back to an earlier state: numbers that were given since then are
  /// given again. Safe to repeat.
  func beginEpoch(insteadOf epoch: String, _ next: String) async throws {
    try await database.write { db in try Self.beginEpoch(insteadOf: epoch, next, on: db) }
  }

  static func beginEpoch(insteadOf epoch: String, _ next: String, on db: any Connection) throws {
    try db.change("update feed set epoch = \(next) where id = 1 and epoch = \(epoch)")
  }
}

extension LogStore.End {
  init(_ row: Row?) throws {
    guard let row else { throw DatabaseFailure.unreadable(column: "position") }
    self.init(position: try row.get("position"), epoch: try row.get("epoch"))
  }
}

extension LoggedEvent {
  fileprivate init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), name: try row.get("name"), payload: try row.get("payload"),
      changes: try row.optional("change"), hiddenFrom: try row.users("hidden_from"), at: try row.get("happened_at"))
  }
}

extension Row {
  /// The ids of users in a text with commas between them; none where it is null.
  fileprivate func users(_ column: String) throws -> Set<UserID> {
    Set((try optional(column, as: String.self) ?? "").split(separator: ",").compactMap { UserID(String($0)) })
  }
}
