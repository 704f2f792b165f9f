import Foundation

/// Something that has happened, as its owning service delivers it to events: with ids and what clients need to update
/// their views, and nothing that a reader of its topics may not see, but for those from whom it is hidden.
package struct FeedEvent: Codable, Sendable, Hashable {
  package static let topicsMax = 16
  package static let changesMax = 20
  /// The name of the events that have the rows of the event before them, where they are too many for one.
  package static let rowsChanged = "rows_changed"

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
  /// Those of further rows; at most ``changesMax``, so that an event fits into what a reader takes at once.
  package let changes: [RowChange]?
  /// Whose right to read one of the topics has changed with it.
  package let access: [AccessChange]?
  /// Readers of its topics who learn only that there was an event, because of a block.
  package let hiddenFrom: [UserID]?
  /// What a notification of it needs in addition. Readers of the topics do not see it.
  package let push: PushDetails?

  package init(
    id: EventID, topics: [String], name: String, payload: JSONValue, at: Date, change: RowChange? = nil,
    changes: [RowChange]? = nil, access: [AccessChange]? = nil, hiddenFrom: [UserID]? = nil, push: PushDetails? = nil
  ) {
    self.id = id
    self.topics = topics
    self.name = name
    self.payload = payload
    self.at = at
    self.change = change
    self.changes = changes
    self.access = access
    self.hiddenFrom = hiddenFrom
    self.push = push
  }

  private enum CodingKeys: String, CodingKey {
    case id, topics, name, payload, at, change, changes, access, push
    case hiddenFrom = "hidden_from"
  }
}

/// What only the notification of an event has, for those who are notified.
package struct PushDetails: Codable, Sendable, Hashable {
  /// Who is notified, where the topics and the payload do not say so.
  package let recipients: [UserID]?
  /// A topic whose readers are notified as well, where its owner's service knows them and the producer does not.
  package let readersOf: String?
  /// Who has caused the event.
  package let actor: UserID?
  /// The name of the thing that it is about, unless its owner has hidden it.
  package let subject: String?
  /// After this time the notification is of no use.
  package let expiresAt: Date?

  package init(
    recipients: [UserID]? = nil, readersOf: String? = nil, actor: UserID? = nil, subject: String? = nil,
    expiresAt: Date? = nil
  ) {
    self.recipients = recipients
    self.readersOf = readersOf
    self.actor = actor
    self.subject = subject
    self.expiresAt = expiresAt
  }

  private enum CodingKeys: String, CodingKey {
    case recipients, actor, subject
    case readersOf = "readers_of"
    case expiresAt = "expires_at"
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

  /// The same JSON as by its encoder.
  package var json: JSONValue {
    var members: [String: JSONValue] = [
      "schema": .string(schema), "table": .string(table), "type": .string(type.rawValue),
    ]
    members["record"] = record
    members["old_record"] = oldRecord
    return .object(members)
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

  /// The end of a topic, whose thing is deleted: the right of all who read it. They still see the event that says so.
  package static func end(of topic: String) -> AccessChange {
    AccessChange(topic: topic, user: everybody, mayRead: false)
  }

  package var isEnd: Bool { user == Self.everybody }

  package func concerns(_ reader: UserID) -> Bool { isEnd || user == reader }

  private static let everybody = UserID.beforeAll
}

extension UserID {
  /// All zeros: no user has this id, and all of them come after it.
  package static let beforeAll = UserID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
}

/// A delivery to events (`POST /internal/events`). The order within a batch, and of the batches of one producer, is the
/// order within each topic.
package struct FeedBatch: Codable, Sendable, Hashable {
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

/// A page of those who may read a topic (`GET /internal/topics/readers?topic=&after=`).
package struct TopicReaders: Codable, Sendable, Hashable {
  /// As long as a page is this long, there may be another after its last user.
  package static let usersMax = 1000

  /// In the order of their ids.
  package let users: [UserID]

  package init(users: [UserID]) { self.users = users }
}

/// Devices that another service registered in earlier versions (`POST /internal/devices`).
package struct TransferredDevices: Codable, Sendable {
  package static let countMax = 100

  package let devices: [TransferredDevice]

  package init(devices: [TransferredDevice]) { self.devices = devices }
}

/// A device with its push token.
package struct TransferredDevice: Codable, Sendable {
  package let id: ID<TransferredDevice>
  package let user: UserID
  package let token: String
  package let platform: String
  package let bundleID: String?
  package let name: String?
  package let osVersion: String?
  package let appVersion: String?
  package let createdAt: Date
  package let updatedAt: Date

  package init(
    id: ID<TransferredDevice>, user: UserID, token: String, platform: String, bundleID: String?, name: String?,
    osVersion: String?, appVersion: String?, createdAt: Date, updatedAt: Date
  ) {
    self.id = id
    self.user = user
    self.token = token
    self.platform = platform
    self.bundleID = bundleID
    self.name = name
    self.osVersion = osVersion
    self.appVersion = appVersion
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }

  private enum CodingKeys: String, CodingKey {
    case id, token, platform, name
    case user = "user_id"
    case bundleID = "bundle_id"
    case osVersion = "os_version"
    case appVersion = "app_version"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
  }
}
