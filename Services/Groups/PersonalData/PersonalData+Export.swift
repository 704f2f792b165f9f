import Database
import Wire

/// The queries behind an export.
extension PersonalDataStore {
  static func groups(of user: UserID, on db: any Connection) throws -> [PersonalData.Group] {
    try db.rows(
      """
      select g.id, g.name, m.role, m.state, m.joined_at, m.left_at
      from membership m join social_group g on g.id = m.group_id
      where m.user_id = \(user) order by m.joined_at, g.id
      """
    ).map { row in
      PersonalData.Group(
        id: try row.get("id"), name: try row.get("name"), role: try row.get("role"),
        is_active: try row.get("state") == "active", joined_at: try row.get("joined_at"),
        left_at: try row.optional("left_at"))
    }
  }

  static func photos(of user: UserID, on db: any Connection) throws -> [PersonalData.Photo] {
    try db.rows(
      """
      select id, group_id, day, created_at, expires_at from photo
      where sender_id = \(user) and state = 'ready' order by created_at, id
      """
    ).map { row in
      PersonalData.Photo(
        id: try row.get("id"), group_id: try row.get("group_id"), day: try row.get("day"),
        created_at: try row.get("created_at"), expires_at: try row.get("expires_at"))
    }
  }

  static func collections(of user: UserID, on db: any Connection) throws -> [PersonalData.Collection] {
    try db.rows(
      """
      select c.id, c.name, m.role, m.created_at
      from collection_member m join collection c on c.id = m.collection_id
      where m.user_id = \(user) order by m.created_at, c.id
      """
    ).map { row in
      PersonalData.Collection(
        id: try row.get("id"), name: try row.get("name"), role: try row.get("role"),
        joined_at: try row.get("created_at"))
    }
  }

  static func blocks(of user: UserID, on db: any Connection) throws -> [PersonalData.Block] {
    try db.rows(
      "select blocked_id, created_at from block where blocker_id = \(user) order by created_at, blocked_id"
    ).map { PersonalData.Block(user_id: try $0.get("blocked_id"), created_at: try $0.get("created_at")) }
  }
}
