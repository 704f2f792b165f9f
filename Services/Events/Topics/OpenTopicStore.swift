import Database
import Foundation
import Wire

/// The SQL statements on who has which topics open on which replica. What is of a replica counts as long as its lease
/// lives.
struct OpenTopicStore: Sendable {
  /// A topic that a user has open.
  struct Entry: Sendable, Hashable {
    let topic: String
    let user: UserID
  }

  let database: any Database

  /// Users in one query. One length of the list, as each is a prepared statement of its own.
  private static let usersMax = 32

  /// Safe to repeat.
  func change(_ changes: [(entry: Entry, isOpen: Bool)], of replica: String) async throws {
    try await database.write { db in
      for (entry, isOpen) in changes {
        if isOpen {
          try db.enqueue(
            """
            insert into open_topic (topic, user_id, replica) values (\(entry.topic), \(entry.user), \(replica))
            on conflict (topic, user_id, replica) do nothing
            """)
        } else {
          try db.enqueue(
            """
            delete from open_topic
            where topic = \(entry.topic) and user_id = \(entry.user) and replica = \(replica)
            """)
        }
      }
    }
  }

  /// Those of the users who have one of the topics open on another replica.
  func openers(
    of topics: [String], among users: [UserID], except replica: String, at now: Date
  ) async throws -> Set<UserID> {
    guard let firstTopic = topics.first, let firstUser = users.first else { return [] }
    let topics = topics + Array(repeating: firstTopic, count: max(0, FeedEvent.topicsMax - topics.count))
    let lists = stride(from: 0, to: users.count, by: Self.usersMax).map { start in
      let part = Array(users[start...].prefix(Self.usersMax))
      return part + Array(repeating: firstUser, count: Self.usersMax - part.count)
    }
    return try await database.read { db in
      try lists.reduce(into: Set<UserID>()) { found, users in
        let rows = try db.rows(
          """
          select open_topic.user_id from open_topic join presence_replica on presence_replica.id = open_topic.replica
          where open_topic.topic in (\(list: topics)) and open_topic.user_id in (\(list: users))
            and open_topic.replica <> \(replica) and presence_replica.expires_at > \(now)
          """)
        for row in rows { found.insert(try row.get("user_id")) }
      }
    }
  }

  /// Removes what replicas that have ended had open.
  ///
  /// - Returns: how many rows.
  static func remove(of ended: [String], limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from open_topic where (topic, user_id, replica) in (
        select topic, user_id, replica from open_topic where replica in (\(list: ended))
        order by replica, topic, user_id limit \(limit))
      """)
  }
}
