import Database
import Foundation
import Wire

/// How people come into a collection.
extension CollectionMemberStore {
  /// - Throws: 404 when there is no such collection.
  func standing(of user: UserID, in id: CollectionID) async throws -> CollectionStanding {
    try await database.read { db in
      guard let collection = try CollectionStore.find(id, on: db) else { throw Failure.collectionNotFound }
      let role = try CollectionStore.role(of: user, in: id, on: db)
      return CollectionStanding(collectionID: id, collectionName: collection.name, role: role)
    }
  }

  /// Lets the user in once for each claim. A role that they have is never lowered.
  ///
  /// - Throws: 404 when there is no such collection.
  func join(
    _ user: UserID, _ id: CollectionID, as role: CollectionRole, by join: JoinByInvite, at now: Date
  ) async throws -> JoinedCollection {
    try await database.write { db in
      guard try CollectionStore.locked(id, on: db) != nil else { throw Failure.collectionNotFound }
      let outcome = try Self.join(user, id, as: role, by: join, at: now, on: db)
      return JoinedCollection(
        outcome: outcome, collectionID: id, role: try CollectionStore.role(of: user, in: id, on: db))
    }
  }

  private static func join(
    _ user: UserID, _ id: CollectionID, as role: CollectionRole, by join: JoinByInvite, at now: Date,
    on db: any Connection
  ) throws -> JoinOutcome {
    if try InviteUses.has(join, letIn: user, on: db) { return .joined }
    let present = try CollectionStore.role(of: user, in: id, on: db)
    if let present, present >= role { return .alreadyMember }
    if let refusal = try refusal(of: user, id, by: join, on: db) { return refusal }
    if present != nil {
      try raise(user, in: id, to: role, at: now, on: db)
    } else {
      guard try takeSeat(in: id, on: db) else { return .full }
      try insert(user, role, into: id, at: now, on: db)
      try CollectionRemovals.forget(user, from: id, on: db)
    }
    try InviteUses.note(join, letIn: user, at: now, on: db)
    return .joined
  }

  /// Whose coming in would undo what the owner has decided.
  private static func refusal(
    of user: UserID, _ id: CollectionID, by join: JoinByInvite, on db: any Connection
  ) throws -> JoinOutcome? {
    if let inviter = join.invitedBy, try BlockStore.areApart(user, inviter, on: db) { return .blocked }
    guard let madeAt = join.madeAt else { return nil }
    if try CollectionRemovals.has(user, from: id, since: madeAt, on: db) { return .removed }
    guard let inviter = join.invitedBy, join.isLink ?? false else { return nil }
    return try CollectionStore.role(of: inviter, in: id, on: db) == .owner ? nil : .lapsed
  }

  private static func raise(
    _ user: UserID, in id: CollectionID, to role: CollectionRole, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      update collection_member set role = \(role.rawValue), updated_at = \(now)
      where collection_id = \(id) and user_id = \(user)
      """)
  }

  private static func takeSeat(in id: CollectionID, on db: any Connection) throws -> Bool {
    try db.change(
      "update collection set member_count = member_count + 1 where id = \(id) and member_count < member_count_max"
    ) == 1
  }
}
