import Database
import Foundation
import Outbox
import Web
import Wire

/// Everything that this service knows of one user, to be handed out or forgotten.
struct PersonalDataStore: KeepsPersonalData {
  let database: any Database
  let outbox: Outbox
  let sights: PhotoSights

  func export(of user: UserID) async throws -> PersonalData {
    try await database.read { db in
      PersonalData(
        groups: try Self.groups(of: user, on: db), photos: try Self.photos(of: user, on: db),
        collections: try Self.collections(of: user, on: db), blocks: try Self.blocks(of: user, on: db),
        devices: try DeviceStore.devices(of: user, on: db).map(PersonalData.Device.init))
    }
  }

  /// The user is in nothing any more, what they own passes on, and their photos are handed to whoever deletes the bytes.
  func erase(_ user: UserID, at now: Date) async throws {
    defer { sights.end() }
    // Whoever lets the user in meanwhile is found out at the end, when it all begins again.
    for _ in 0..<Self.triesMax {
      try await leaveEverything(user, at: now)
      do { return try await forget(user, at: now) } catch is StillInside {}
    }
    throw DatabaseFailure.contended
  }

  private static let triesMax = 10

  /// The user has been let into something since.
  private struct StillInside: Error {}

  private func leaveEverything(_ user: UserID, at now: Date) async throws {
    let memberships = MembershipStore(database: database, sights: sights)
    for group in try await activeGroups(of: user) {
      do { try await memberships.leave(group, user, at: now) } catch let failure as Failure
        where failure == .groupNotFound
      {}
    }
    for collection in try await collections(of: user) {
      try await database.write { db in try Self.leave(collection, user, at: now, on: db) }
    }
  }

  private func forget(_ user: UserID, at now: Date) async throws {
    try await database.write { db in
      try db.change("update social_group set created_by = null where created_by = \(user)")
      try Self.lock(user, on: db)
      guard try !Self.isInside(user, on: db) else { throw StillInside() }
      try EndedPhotos.end(of: user, at: now, on: db)
      try db.change("delete from membership where user_id = \(user)")
      try db.change("update membership set removed_by = null where removed_by = \(user)")
      try db.change("delete from person where user_id = \(user)")
      try db.change("delete from block where blocker_id = \(user) or blocked_id = \(user)")
      try db.change("delete from device where user_id = \(user)")
      try db.change("delete from invite_use where user_id = \(user)")
      try db.change("delete from collection_removal where user_id = \(user)")
      try outbox.erase(user, on: db)
      try Idempotency.erase(user, on: db)
    }
  }

  /// Waits for whoever is just letting the user into a group, and lets them wait from now on: they all take a place for
  /// the user first, in the same row.
  private static func lock(_ user: UserID, on db: any Connection) throws {
    try db.change(
      """
      insert into person (user_id, group_count, group_count_max) values (\(user), 0, \(Group.groupCountMax))
      on conflict (user_id) do update set group_count = person.group_count
      """)
  }

  private static func isInside(_ user: UserID, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select 1 as one from membership where user_id = \(user) and state = 'active'
      union all select 1 from collection_member where user_id = \(user)
      """) != nil
  }

  private func activeGroups(of user: UserID) async throws -> [GroupID] {
    try await database.read { db in
      try db.rows("select group_id from membership where user_id = \(user) and state = 'active'")
        .map { try $0.get("group_id") }
    }
  }

  private func collections(of user: UserID) async throws -> [CollectionID] {
    try await database.read { db in
      try db.rows("select collection_id from collection_member where user_id = \(user)")
        .map { try $0.get("collection_id") }
    }
  }

  /// What the user owns goes to the longest-standing member, and with the last one.
  private static func leave(_ id: CollectionID, _ user: UserID, at now: Date, on db: any Connection) throws {
    guard let collection = try CollectionStore.locked(id, on: db),
      let role = try CollectionStore.role(of: user, in: id, on: db)
    else { return }
    guard collection.memberCount > 1 else {
      try db.change("delete from collection where id = \(id)")
      return
    }
    try CollectionMemberStore.remove(user, from: id, on: db)
    if role == .owner { try passOn(collection, at: now, on: db) }
  }

  private static func passOn(_ collection: Collection, at now: Date, on db: any Connection) throws {
    let heir = try db.row(
      """
      update collection_member set role = 'OWNER', updated_at = \(now) where id = (
        select id from collection_member where collection_id = \(collection.id) order by created_at, id limit 1)
      returning user_id
      """)
    guard let heir: UserID = try heir?.get("user_id") else { throw DatabaseFailure.contended }
    // An heir who has so many of one name has at most as many collections.
    for attempt in 1...1000 {
      let name = Collection.name(collection.name, attempt: attempt)
      let passed = try db.change(
        """
        update collection set owner_id = \(heir), name = \(name) where id = \(collection.id) and not exists (
          select 1 from collection other where other.owner_id = \(heir) and other.name = \(name))
        """)
      if passed == 1 { return }
    }
    throw DatabaseFailure.contended
  }
}
