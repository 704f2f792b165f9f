import Database
import Foundation
import Wire

/// Queries the relations of a user to others in this service: shared groups and collections, and blocks.
struct RelationStore: Sendable {
  let database: any Database

  /// Runs one query for shared groups and collections and one for blocks, each limited to `others`.
  func relations(of user: UserID, to others: Set<UserID>) async throws -> Relations {
    let others = others.sorted { $0.description < $1.description }
    return try await database.read { db in
      Relations(
        shared: try Self.sharing(with: user, among: others, on: db),
        blocked: try Self.blocked(from: user, among: others, on: db))
    }
  }

  private static func sharing(
    with user: UserID, among others: [UserID], on db: any Connection
  ) throws -> Set<UserID> {
    try ids(
      db.rows(
        """
        select other.user_id as id from membership other
          join membership mine on mine.group_id = other.group_id and mine.state = 'active'
        where other.user_id in (\(list: others)) and other.state = 'active' and mine.user_id = \(user)
        union
        select other.user_id from collection_member other
          join collection_member mine on mine.collection_id = other.collection_id
        where other.user_id in (\(list: others)) and mine.user_id = \(user)
        """))
  }

  private static func blocked(
    from user: UserID, among others: [UserID], on db: any Connection
  ) throws -> Set<UserID> {
    try ids(
      db.rows(
        """
        select blocked_id as id from block where blocker_id = \(user) and blocked_id in (\(list: others))
        union
        select blocker_id from block where blocked_id = \(user) and blocker_id in (\(list: others))
        """))
  }

  private static func ids(_ rows: [Row]) throws -> Set<UserID> { Set(try rows.map { try $0.get("id") }) }
}
