import Database
import Foundation
import Web
import Wire

/// Exports and erases what the log has of a user: the topics that are the user's own. What happened in shared topics
/// leaves the log within a day.
struct EventsPersonalDataStore: PersonalDataStoring {
  let database: any Database

  struct Export: Encodable, Sendable {
    struct Event: Encodable, Sendable {
      let topic: String
      let seq: Int
      let name: String
      let payload: JSONValue
      let at: Date
    }

    let events: [Event]
  }

  func export(of user: UserID) async throws -> Export {
    try await database.read { db in
      let rows = try db.rows(
        """
        select topic_event.topic, topic_event.seq, event.name, event.payload, event.happened_at
        from topic_event join event on event.position = topic_event.position
        where topic_event.topic in (\(list: TopicName.own(user)))
        order by topic_event.topic, topic_event.seq limit 10000
        """)
      return Export(
        events: try rows.map { row in
          Export.Event(
            topic: try row.get("topic"), seq: try row.get("seq"), name: try row.get("name"),
            payload: try JSON.decode(JSONValue.self, from: Data(try row.get("payload", as: String.self).utf8)),
            at: try row.get("happened_at"))
        })
    }
  }

  /// Clears the events and keeps their numbers, so that the positions and the topics have no holes.
  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { db in
      try db.change(
        """
        update event set payload = '{}', change = null where position in (
          select position from topic_event where topic in (\(list: TopicName.own(user))))
        """)
    }
  }
}
