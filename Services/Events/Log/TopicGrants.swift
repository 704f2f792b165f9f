import Database
import Wire

/// The rights to read topics that begin and end with the events of one delivery. The log keeps from where on a user may
/// read a topic, so that nobody is sent what happened before they were let in.
struct TopicGrants {
  private struct Key: Hashable {
    let topic: String
    let user: UserID
  }

  private struct Grant {
    /// The last number that the user may not read; nil for a topic without events in this delivery.
    let seq: Int?
    let position: Int
  }

  private var withdrawn: Set<Key> = []
  private var granted: [Key: Grant] = [:]

  /// - Parameters:
  ///   - topics: of the event with which the rights change. Who is let in by it sees it.
  ///   - numbers: the last number of each topic, with the event.
  mutating func apply(
    _ changes: [AccessChange], ofEventOn topics: [String], _ numbers: [String: Int], at position: Int
  ) {
    for change in changes {
      let key = Key(topic: change.topic, user: change.user)
      if !change.mayRead {
        withdrawn.insert(key)
        granted[key] = nil
      } else if granted[key] == nil {
        let own = topics.contains(change.topic) ? 1 : 0
        granted[key] = Grant(seq: numbers[change.topic].map { $0 - own }, position: position)
      }
    }
  }

  /// A right that somebody has already begins no later because it is given again.
  func store(on db: any Connection) throws {
    for key in withdrawn {
      try db.enqueue("delete from topic_grant where topic = \(key.topic) and user_id = \(key.user)")
    }
    guard !granted.isEmpty else { return }
    let numbers = try Self.numbers(of: Set(granted.filter { $0.value.seq == nil }.map(\.key.topic)), on: db)
    let rows = granted.map { key, grant -> SQL in
      "(\(key.topic), \(key.user), \(grant.seq ?? numbers[key.topic] ?? 0), \(grant.position))"
    }
    for rows in rows.statementChunks {
      try db.enqueue(
        """
        insert into topic_grant (topic, user_id, seq, position) values \(rows: rows)
        on conflict (topic, user_id) do nothing
        """)
    }
  }

  private static func numbers(of topics: Set<String>, on db: any Connection) throws -> [String: Int] {
    guard !topics.isEmpty else { return [:] }
    let rows = try db.rows(
      of: topics.sorted().statementChunks.map { "select name, seq from topic where name in (\(list: $0))" })
    return try rows.joined().reduce(into: [:]) { numbers, row in
      numbers[try row.get("name")] = try row.get("seq", as: Int.self)
    }
  }
}
