import Database
import EventFeed
import Wire

/// The queries for the topics of groups and collections.
struct TopicStore: TopicReaderQuerying {
  let database: any Database

  /// Members of a group read and write; in a collection, those who may change it write.
  func access(of user: UserID, to topic: String) async throws -> TopicAccess {
    if let group = Self.id(in: topic, EventTopic.group) {
      let role = try await database.readOnce { db in try MembershipStore.activeRole(of: user, in: group, on: db) }
      return TopicAccess(read: role != nil, write: role != nil)
    }
    if let collection = Self.id(in: topic, EventTopic.collection) {
      let role = try await database.readOnce { db in try CollectionStore.role(of: user, in: collection, on: db) }
      return role.map { TopicAccess(read: true, write: $0 > .viewOnly) } ?? .none
    }
    return .none
  }

  func topics(of user: UserID) async throws -> [String] {
    try await database.readOnce { db in
      let found = try db.rows(of: [
        "select group_id from membership where user_id = \(user) and state = 'active' order by group_id",
        "select collection_id from collection_member where user_id = \(user) order by collection_id",
      ])
      return try found[0].map { EventTopic.group(try $0.get("group_id")) }
        + found[1].map { EventTopic.collection(try $0.get("collection_id")) }
    }
  }

  func readers(of topic: String, after user: UserID) async throws -> [UserID] {
    if let group = Self.id(in: topic, EventTopic.group) {
      return try await database.readOnce { db in
        try db.rows(
          """
          select user_id from membership where group_id = \(group) and state = 'active' and user_id > \(user)
          order by user_id limit \(TopicReaders.usersMax)
          """
        ).map { try $0.get("user_id") }
      }
    }
    guard let collection = Self.id(in: topic, EventTopic.collection) else { return [] }
    return try await database.readOnce { db in
      try db.rows(
        """
        select user_id from collection_member where collection_id = \(collection) and user_id > \(user)
        order by user_id limit \(TopicReaders.usersMax)
        """
      ).map { try $0.get("user_id") }
    }
  }

  /// The id of a topic; nil for other topics, and for other spellings of the id.
  private static func id<Subject>(in topic: String, _ name: (ID<Subject>) -> String) -> ID<Subject>? {
    guard let id = topic.split(separator: ":").last.flatMap({ ID<Subject>(String($0)) }), name(id) == topic else {
      return nil
    }
    return id
  }
}
