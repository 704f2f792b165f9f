import Database
import Foundation
import Wire

/// All data of the groups service about one user, without the blocks made by other users, which are their data.
struct PersonalDataExport: Encodable, Sendable {
  let groups: [ExportedGroup]
  let photos: [ExportedPhoto]
  let files: [ExportedFile]
  let collections: [ExportedCollection]
  let blocks: [ExportedBlock]

  init(of user: UserID, on db: any Connection) throws {
    groups = try db.rows(
      """
      select g.id, g.name, g.description, g.created_by, m.role, m.state, m.joined_at, m.left_at
      from membership m join social_group g on g.id = m.group_id
      where m.user_id = \(user) order by m.joined_at, g.id
      """
    ).map { try ExportedGroup($0, of: user) }
    photos = try db.rows(
      """
      select id, group_id, day, created_at, expires_at from photo
      where sender_id = \(user) and state = 'ready' order by created_at, id
      """
    ).map(ExportedPhoto.init)
    files = try StoredObjectStore.all(of: user, on: db).map(ExportedFile.init)
    collections = try db.rows(
      """
      select c.id, c.name, m.role, m.created_at
      from collection_member m join collection c on c.id = m.collection_id
      where m.user_id = \(user) order by m.created_at, c.id
      """
    ).map(ExportedCollection.init)
    blocks = try db.rows(
      "select blocked_id, created_at from block where blocker_id = \(user) order by created_at, blocked_id"
    ).map(ExportedBlock.init)
  }
}

/// A group that the user is or was a member of.
struct ExportedGroup: Encodable, Sendable {
  let id: GroupID
  let name: String
  let description: String?
  /// Whether the user has made it.
  let is_creator: Bool
  let role: String
  let is_active: Bool
  let joined_at: Date
  let left_at: Date?

  fileprivate init(_ row: Row, of user: UserID) throws {
    id = try row.get("id")
    name = try row.get("name")
    description = try row.optional("description")
    is_creator = try row.optional("created_by") == user
    role = try row.get("role")
    is_active = try row.get("state") == "active"
    joined_at = try row.get("joined_at")
    left_at = try row.optional("left_at")
  }
}

/// A visible photo that the user has sent.
struct ExportedPhoto: Encodable, Sendable {
  let id: String
  let group_id: GroupID
  let day: String
  let created_at: Date
  let expires_at: Date

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    group_id = try row.get("group_id")
    day = try row.get("day")
    created_at = try row.get("created_at")
    expires_at = try row.get("expires_at")
  }
}

/// A file that the user has stored.
struct ExportedFile: Encodable, Sendable {
  let name: String
  let size_bytes: Int
  let created_at: Date
  let updated_at: Date

  fileprivate init(_ object: StoredObject) {
    name = object.name.description
    size_bytes = object.byteCount
    created_at = object.createdAt
    updated_at = object.updatedAt
  }
}

/// A collection that the user is a member of.
struct ExportedCollection: Encodable, Sendable {
  let id: CollectionID
  let name: String
  let role: String
  let joined_at: Date

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    name = try row.get("name")
    role = try row.get("role")
    joined_at = try row.get("created_at")
  }
}

/// Another user whom the user has blocked.
struct ExportedBlock: Encodable, Sendable {
  let user_id: UserID
  let created_at: Date

  fileprivate init(_ row: Row) throws {
    user_id = try row.get("blocked_id")
    created_at = try row.get("created_at")
  }
}
