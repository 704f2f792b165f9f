import Database
import Foundation
import Memberships
import Wire

/// Joining a collection by an invite.
extension CollectionMemberStore {
  /// The user's role in the collection, for other services.
  ///
  /// - Throws: 404 when there is no such collection.
  func membership(of user: UserID, in id: CollectionID) async throws -> CollectionMembership {
    try await database.read { db in
      guard let collection = try CollectionStore.find(id, on: db) else { throw Failure.collectionNotFound }
      let role = try CollectionStore.role(of: user, in: id, on: db)
      return CollectionMembership(collectionID: id, collectionName: collection.name, role: role)
    }
  }

  /// Adds the user once per claim, or raises the role of a member. A role is never lowered. Safe to repeat: a second
  /// call with the same claim returns `joined` and changes nothing.
  ///
  /// - Throws: 404 when there is no such collection.
  func join(
    _ user: UserID, _ id: CollectionID, as role: CollectionRole, by join: JoinByInvite, at now: Date
  ) async throws -> JoinedCollection {
    try await database.write { db in
      guard try CollectionStore.lock(id, on: db) != nil else { throw Failure.collectionNotFound }
      let outcome = try Self.join(user, id, as: role, by: join, at: now, on: db)
      return JoinedCollection(
        outcome: outcome, collectionID: id, role: try CollectionStore.role(of: user, in: id, on: db))
    }
  }

  private static func join(
    _ user: UserID, _ id: CollectionID, as role: CollectionRole, by join: JoinByInvite, at now: Date,
    on db: any Connection
  ) throws -> JoinOutcome {
    if try InviteUseStore.hasJoined(user, by: join, on: db) { return .joined }
    let present = try CollectionStore.role(of: user, in: id, on: db)
    if let present, present >= role { return .alreadyMember }
    if let refusal = try refusal(of: user, id, by: join, on: db) { return refusal }
    if present != nil {
      try raiseRole(of: user, in: id, to: role, at: now, on: db)
      CollectionEvents.roleChanged(of: user, in: id, to: role, at: now, on: db)
    } else {
      guard try takeSeat(in: id, on: db) else { return .full }
      try insert(user, role, into: id, at: now, on: db)
      try CollectionMemberRemovalStore.delete(user, from: id, on: db)
      CollectionEvents.joined(user, id, as: role, at: now, on: db)
    }
    try InviteUseStore.record(join, by: user, at: now, on: db)
    return .joined
  }

  /// The outcome for a user who may not join, because of a block or a removal; nil when the user may. A link is valid
  /// only while its inviter owns the collection.
  private static func refusal(
    of user: UserID, _ id: CollectionID, by join: JoinByInvite, on db: any Connection
  ) throws -> JoinOutcome? {
    if let inviter = join.invitedBy, try BlockStore.exists(between: user, and: inviter, on: db) { return .blocked }
    guard let madeAt = join.madeAt else { return nil }
    if try CollectionMemberRemovalStore.wasRemoved(user, from: id, since: madeAt, on: db) { return .removed }
    guard let inviter = join.invitedBy, join.isLink ?? false else { return nil }
    return try CollectionStore.role(of: inviter, in: id, on: db) == .owner ? nil : .lapsed
  }

  private static func raiseRole(
    of user: UserID, in id: CollectionID, to role: CollectionRole, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      update collection_member set role = \(role.rawValue), updated_at = \(now)
      where collection_id = \(id) and user_id = \(user)
      """)
  }

  /// Adds one to the number of members; false when the collection is full.
  private static func takeSeat(in id: CollectionID, on db: any Connection) throws -> Bool {
    try db.change(
      "update collection set member_count = member_count + 1 where id = \(id) and member_count < member_count_max"
    ) == 1
  }
}
