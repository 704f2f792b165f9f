import Foundation

/// Something that has happened, as its owning service delivers it to events: with ids and what clients need to update
/// their views, and nothing that a reader of its topics may not see.
package struct FeedEvent: Codable, Sendable, Hashable {
  package static let topicsMax = 16

  /// Repeating a delivery with the same id has no further effect.
  package let id: EventID
  /// Whose readers may see it: `lists:42`, `users:<uuid>`. Each topic numbers it separately.
  package let topics: [String]
  /// In snake case: `task_changed`.
  package let name: String
  /// An object.
  package let payload: JSONValue
  package let at: Date
  package let change: RowChange?
  /// Whose right to read one of the topics has changed with it.
  package let access: [AccessChange]?

  package init(
    id: EventID, topics: [String], name: String, payload: JSONValue, at: Date, change: RowChange? = nil,
    access: [AccessChange]? = nil
  ) {
    self.id = id
    self.topics = topics
    self.name = name
    self.payload = payload
    self.at = at
    self.change = change
    self.access = access
  }
}

/// A change of a row, as clients of `postgres_changes` receive it.
package struct RowChange: Codable, Sendable, Hashable {
  package enum Kind: String, Codable, Sendable {
    case insert = "INSERT"
    case update = "UPDATE"
    case delete = "DELETE"
  }

  package let schema: String
  package let table: String
  package let type: Kind
  /// The row after the change, an object; nil for a deletion.
  package let record: JSONValue?
  /// The row before the change, an object: at least its primary key, for updates and deletions.
  package let oldRecord: JSONValue?

  package init(
    schema: String = "public", table: String, type: Kind, record: JSONValue?, oldRecord: JSONValue? = nil
  ) {
    self.schema = schema
    self.table = table
    self.type = type
    self.record = record
    self.oldRecord = oldRecord
  }

  private enum CodingKeys: String, CodingKey {
    case schema, table, type, record
    case oldRecord = "old_record"
  }
}

/// Who may read a topic from now on, or no longer.
package struct AccessChange: Codable, Sendable, Hashable {
  package let topic: String
  package let user: UserID
  package let mayRead: Bool

  package init(topic: String, user: UserID, mayRead: Bool) {
    self.topic = topic
    self.user = user
    self.mayRead = mayRead
  }

  private enum CodingKeys: String, CodingKey {
    case topic
    case user = "user_id"
    case mayRead = "may_read"
  }
}

/// A delivery to events (`POST /internal/events`). The order within a batch, and of the batches of one producer, is the
/// order within each topic.
package struct FeedBatch: Codable, Sendable {
  package static let eventsMax = 500

  package let events: [FeedEvent]

  package init(events: [FeedEvent]) { self.events = events }
}

/// The reply to ``FeedBatch``: all its events are stored.
package struct FeedBatchAccepted: Codable, Sendable, Hashable {
  /// How many were new.
  package let accepted: Int

  package init(accepted: Int) { self.accepted = accepted }
}

/// The rights of a user in a topic (`GET /internal/topics/access?topic=&user_id=` of the owning service).
package struct TopicAccess: Codable, Sendable, Hashable {
  package let read: Bool
  package let write: Bool

  package init(read: Bool, write: Bool) {
    self.read = read
    self.write = write
  }

  package static let none = TopicAccess(read: false, write: false)
}

/// All topics of a service that a user may read (`GET /internal/topics?user_id=`).
package struct ReadableTopics: Codable, Sendable, Hashable {
  package let topics: [String]

  package init(topics: [String]) { self.topics = topics }
}
