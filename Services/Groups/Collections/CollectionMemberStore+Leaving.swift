import Database
import Foundation
import Wire

/// Leaving a collection when the user's account is erased.
extension CollectionMemberStore {
  /// Ends the user's membership, also the owner's: the longest-standing member becomes the owner. A collection without
  /// other members is deleted.
  static func leave(_ id: CollectionID, _ user: UserID, at now: Date, on db: any Connection) throws {
    guard let collection = try CollectionStore.lock(id, on: db),
      let role = try CollectionStore.role(of: user, in: id, on: db)
    else { return }
    guard collection.memberCount > 1 else {
      return try CollectionStore.delete(id, at: now, on: db)
    }
    try remove(user, from: id, by: user, at: now, on: db)
    if role == .owner { try transferOwnership(of: collection, at: now, on: db) }
  }

  private static func transferOwnership(of collection: Collection, at now: Date, on db: any Connection) throws {
    let row = try db.row(
      """
      update collection_member set role = 'OWNER', updated_at = \(now) where id = (
        select id from collection_member where collection_id = \(collection.id) order by created_at, id limit 1)
      returning user_id
      """)
    guard let newOwner: UserID = try row?.get("user_id") else { throw DatabaseFailure.contended }
    // Fails only when the new owner already has collections of all 1000 candidate names.
    for attempt in 1...1000 {
      let name = Collection.name(collection.name, attempt: attempt)
      let changed = try db.change(
        """
        update collection set owner_id = \(newOwner), name = \(name) where id = \(collection.id) and not exists (
          select 1 from collection other where other.owner_id = \(newOwner) and other.name = \(name))
        """)
      guard changed == 1 else { continue }
      return CollectionEvents.roleChanged(of: newOwner, in: collection.id, to: .owner, at: now, on: db)
    }
    throw DatabaseFailure.contended
  }
}
