import Database
import Foundation
import Outbox
import Web
import Wire

/// Exports and erases the data of the groups service about a user.
struct PersonalDataStore: PersonalDataStoring {
  let database: any Database
  let outbox: Outbox
  let photoAccess: PhotoAccessCache

  func export(of user: UserID) async throws -> PersonalDataExport {
    try await database.read { db in try PersonalDataExport(of: user, on: db) }
  }

  /// Ends all of the user's memberships, transfers what they own, and ends their photos, whose bytes ``PhotoSweep``
  /// deletes later. Safe to repeat.
  ///
  /// - Throws: ``DatabaseFailure/contended`` when the user was added somewhere during each of the attempts.
  func erase(_ user: UserID, at now: Date) async throws {
    defer { photoAccess.invalidate() }
    // The user may be added to a group or collection meanwhile. The last step detects that, and then all steps are
    // repeated.
    for _ in 0..<Self.attemptsMax {
      try await endMemberships(of: user, at: now)
      do { return try await deleteRows(of: user, at: now) } catch is PersonalDataErasure.StillMember {}
    }
    throw DatabaseFailure.contended
  }

  private static let attemptsMax = 10

  private func endMemberships(of user: UserID, at now: Date) async throws {
    // Without ``MembershipStore/changes``: the other services erase what the user has there.
    let memberships = MembershipStore(database: database, photoAccess: photoAccess)
    let groups = try await database.read { db in try PersonalDataErasure.activeGroups(of: user, on: db) }
    for group in groups {
      do { try await memberships.leave(group, user, at: now) } catch let failure as Failure
        where failure == .groupNotFound
      {}
    }
    let collections = try await database.read { db in try PersonalDataErasure.collections(of: user, on: db) }
    for collection in collections {
      try await database.write { db in try CollectionMemberStore.leave(collection, user, at: now, on: db) }
    }
  }

  private func deleteRows(of user: UserID, at now: Date) async throws {
    try await database.write { [outbox] db in
      try PersonalDataErasure.deleteRows(of: user, outbox, at: now, on: db)
    }
  }
}
