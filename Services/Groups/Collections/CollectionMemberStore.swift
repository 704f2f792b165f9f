import Database
import Foundation
import Wire

/// The SQL statements on the members of collections and their roles.
struct CollectionMemberStore: Sendable {
  let database: any Database

  /// The members in the order in which they joined.
  ///
  /// - Throws: 404 when the user is not a member.
  func members(of id: CollectionID, seenBy user: UserID) async throws -> [CollectionMember] {
    try await database.read { db in
      let members = try db.rows(
        "select * from collection_member where collection_id = \(id) order by created_at, id"
      ).map(CollectionMember.init)
      guard members.contains(where: { $0.user == user }) else { throw Failure.collectionNotFound }
      return members
    }
  }

  /// Changes the role of a member.
  ///
  /// - Throws: 404 when the caller or the user to change is not a member, 403 when the caller is not the owner, 400
  ///   when the member to change is the owner.
  func change(
    _ member: CollectionMemberReference, of id: CollectionID, to role: CollectionRole, by owner: UserID, at now: Date
  ) async throws -> CollectionMember {
    try await database.write { db in
      try CollectionStore.lock(id, by: owner, on: db)
      let member = try Self.find(member, in: id, on: db)
      guard member.role != .owner else { throw Failure.ownerIsFixed }
      let row = try db.row(
        """
        update collection_member set role = \(role.rawValue), updated_at = \(now) where id = \(member.id) returning *
        """)
      guard let row else { throw Failure.memberNotFound }
      CollectionEvents.roleChanged(of: member.user, in: id, to: role, at: now, on: db)
      return try CollectionMember(row)
    }
  }

  /// Removes a member. Members may remove themselves.
  ///
  /// - Throws: 404 when the caller or the user to remove is not a member, 403 when the caller is neither the owner nor
  ///   the member to remove, 400 when the member to remove is the owner.
  func remove(_ member: CollectionMemberReference, from id: CollectionID, by user: UserID, at now: Date) async throws {
    try await database.write { db in
      guard try CollectionStore.lock(id, on: db) != nil,
        let role = try CollectionStore.role(of: user, in: id, on: db)
      else { throw Failure.collectionNotFound }
      let member = try Self.find(member, in: id, on: db)
      guard role == .owner || member.user == user else { throw Failure.insufficientPermissions }
      guard member.role != .owner else { throw Failure.ownerIsFixed }
      try Self.remove(member.user, from: id, by: user, at: now, on: db)
      if member.user != user { try CollectionMemberRemovalStore.record(member.user, from: id, at: now, on: db) }
    }
  }

  static func insert(
    _ user: UserID, _ role: CollectionRole, into id: CollectionID, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      insert into collection_member (id, collection_id, user_id, role, created_at, updated_at)
      values (\(MemberID.new(at: now)), \(id), \(user), \(role.rawValue), \(now), \(now))
      """)
  }

  /// - Parameter remover: the member when they leave.
  static func remove(
    _ user: UserID, from id: CollectionID, by remover: UserID, at now: Date, on db: any Connection
  ) throws {
    CollectionEvents.left(user, id, by: remover, at: now, on: db)
    let removed = try db.change("delete from collection_member where collection_id = \(id) and user_id = \(user)")
    try db.change("update collection set member_count = member_count - \(removed) where id = \(id)")
  }

  private static func find(
    _ reference: CollectionMemberReference, in id: CollectionID, on db: any Connection
  ) throws -> CollectionMember {
    let row =
      switch reference {
      case .member(let member):
        try db.row("select * from collection_member where collection_id = \(id) and id = \(member)")
      case .user(let user):
        try db.row("select * from collection_member where collection_id = \(id) and user_id = \(user)")
      }
    guard let row else { throw Failure.memberNotFound }
    return try CollectionMember(row)
  }
}

/// How a request refers to a member: by the id of the membership, or by the id of the user with its prefix.
enum CollectionMemberReference: Sendable, Hashable {
  case member(MemberID)
  case user(UserID)

  init?(_ text: String) {
    if let id = MemberID(text) {
      self = .member(id)
    } else if let id = UserID(text, prefix: .user) {
      self = .user(id)
    } else {
      return nil
    }
  }
}

extension CollectionMember {
  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    collection = try row.get("collection_id")
    user = try row.get("user_id")
    role = try row.enumValue("role")
    createdAt = try row.get("created_at")
    updatedAt = try row.get("updated_at")
  }
}
