import Database
import EventFeed
import Wire

/// The queries for the topics of lists.
struct TopicStore: TopicReaderQuerying {
  let database: any Database

  /// Viewers read; editors and the owner also write.
  func access(of user: UserID, to topic: String) async throws -> TopicAccess {
    guard let list = Self.list(topic) else { return .none }
    let role = try await database.readOnce { db in try Self.role(of: user, in: list, on: db) }
    return role.map { TopicAccess(read: true, write: $0.mayEdit) } ?? .none
  }

  func topics(of user: UserID) async throws -> [String] {
    try await database.readOnce { db in
      try db.rows(
        """
        select id from list where owner_id = \(user) and deleted_at is null
        union all
        select list.id from membership join list on list.id = membership.list_id
        where membership.user_id = \(user) and list.deleted_at is null order by id
        """
      ).map { EventTopic.list(try $0.get("id")) }
    }
  }

  func readers(of topic: String, after user: UserID) async throws -> [UserID] {
    guard let list = Self.list(topic) else { return [] }
    return try await database.readOnce { db in
      try db.rows(
        """
        select owner_id as user_id from list where id = \(list) and deleted_at is null and owner_id > \(user)
        union all
        select membership.user_id from membership join list on list.id = membership.list_id
        where membership.list_id = \(list) and list.deleted_at is null and membership.user_id > \(user)
        order by user_id limit \(TopicReaders.usersMax)
        """
      ).map { try $0.get("user_id") }
    }
  }

  /// nil for non-members, and for a list that was deleted.
  private static func role(of user: UserID, in list: Int, on db: any Connection) throws -> ListRole? {
    try db.row(
      """
      select case when list.owner_id = \(user) then 'owner' else membership.role end as role
      from list left join membership on membership.list_id = list.id and membership.user_id = \(user)
      where list.id = \(list) and list.deleted_at is null
        and (list.owner_id = \(user) or membership.user_id is not null)
      """)?.enumValue("role")
  }

  /// The list of a topic; nil for other topics, and for other spellings of the number.
  private static func list(_ topic: String) -> Int? {
    guard let id = topic.split(separator: ":").last.flatMap({ Int($0) }), EventTopic.list(id) == topic else {
      return nil
    }
    return id
  }
}
