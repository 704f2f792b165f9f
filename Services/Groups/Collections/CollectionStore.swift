import Database
import Foundation
import Wire

/// The SQL statements on collections. Every transaction that changes a collection's members first updates the
/// collection's row, which serves as its lock.
struct CollectionStore: Sendable {
  let database: any Database

  /// A page of the collections of which the user is the owner or a member, the last changed first, and their total
  /// number.
  func collections(of user: UserID, skip: Int, take: Int) async throws -> (page: [Collection], count: Int) {
    try await database.read { db in
      let rows = try db.rows(
        """
        select collection.* from collection join collection_member mine on mine.collection_id = collection.id
        where mine.user_id = \(user) order by collection.updated_at desc, collection.id desc
        limit \(take) offset \(skip)
        """)
      let count = try db.row("select count(*) as total from collection_member where user_id = \(user)")
      return (try rows.map(Collection.init), try count?.get("total") ?? 0)
    }
  }

  /// - Throws: 404 when the user is not a member, as for a collection that does not exist.
  func collection(_ id: CollectionID, seenBy user: UserID) async throws -> Collection {
    try await database.read { db in
      guard try Self.role(of: user, in: id, on: db) != nil, let collection = try Self.find(id, on: db) else {
        throw Failure.collectionNotFound
      }
      return collection
    }
  }

  /// Creates a collection with its owner as the only member.
  ///
  /// - Throws: 409 when the owner already has one of that name.
  static func create(
    _ id: CollectionID, _ name: String, of owner: UserID, at now: Date, on db: any Connection
  ) throws -> Collection {
    let row = try db.row(
      """
      insert into collection (id, owner_id, name, member_count, member_count_max, created_at, updated_at)
      values (\(id), \(owner), \(name), 1, \(Collection.memberCountMax), \(now), \(now))
      on conflict (owner_id, name) do nothing returning \(collectionColumns)
      """)
    guard let row else { throw Failure.collectionNameTaken }
    try CollectionMemberStore.insert(owner, .owner, into: id, at: now, on: db)
    let collection = try Collection(row)
    CollectionEvents.created(collection, on: db)
    return collection
  }

  /// - Throws: 404 when the user is not a member, 403 when the user is not the owner, 409 when the owner has another
  ///   one of that name.
  func rename(_ id: CollectionID, to name: String, by user: UserID, at now: Date) async throws -> Collection {
    do {
      return try await database.write { db in
        try Self.lock(id, by: user, on: db)
        let row = try db.row(
          "update collection set name = \(name), updated_at = \(now) where id = \(id) returning \(collectionColumns)")
        guard let row else { throw Failure.collectionNotFound }
        let collection = try Collection(row)
        CollectionEvents.changed(collection, at: now, on: db)
        return collection
      }
    } catch DatabaseFailure.unique("collection_name") { throw Failure.collectionNameTaken }
  }

  /// - Throws: 404 when the user is not a member, 403 when the user is not the owner.
  func delete(_ id: CollectionID, by user: UserID, at now: Date) async throws {
    try await database.write { db in
      try Self.lock(id, by: user, on: db)
      try Self.delete(id, at: now, on: db)
    }
  }

  /// Deletes a collection that the transaction has locked.
  static func delete(_ id: CollectionID, at now: Date, on db: any Connection) throws {
    CollectionEvents.deleted(id, at: now, on: db)
    try db.change("delete from collection where id = \(id)")
  }

  static func find(_ id: CollectionID, on db: any Connection) throws -> Collection? {
    try db.row("select \(collectionColumns) from collection where id = \(id)").map(Collection.init)
  }

  /// Takes the collection's lock; nil when there is none.
  @discardableResult
  static func lock(_ id: CollectionID, on db: any Connection) throws -> Collection? {
    try db.row(
      "update collection set member_count = member_count where id = \(id) returning \(collectionColumns)"
    ).map(Collection.init)
  }

  /// Takes the collection's lock for its owner.
  ///
  /// - Throws: 404 when the user is not a member, 403 when the user is not the owner.
  @discardableResult
  static func lock(_ id: CollectionID, by owner: UserID, on db: any Connection) throws -> Collection {
    guard let collection = try lock(id, on: db), let role = try role(of: owner, in: id, on: db) else {
      throw Failure.collectionNotFound
    }
    guard role == .owner else { throw Failure.insufficientPermissions }
    return collection
  }

  /// The user's role; nil when the user is not a member.
  static func role(of user: UserID, in id: CollectionID, on db: any Connection) throws -> CollectionRole? {
    try db.row(
      "select role from collection_member where collection_id = \(id) and user_id = \(user)"
    )?.enumValue("role")
  }
}

private let collectionColumns: SQL = "id, owner_id, name, member_count, member_count_max, created_at, updated_at"

extension Collection {
  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    owner = try row.get("owner_id")
    name = try row.get("name")
    memberCount = try row.get("member_count")
    memberCountMax = try row.get("member_count_max")
    createdAt = try row.get("created_at")
    updatedAt = try row.get("updated_at")
  }
}
