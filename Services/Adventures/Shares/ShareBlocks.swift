import Clients
import Database
import Foundation
import RestQueries
import Wire

/// Hides shared arrival times from recipients who are kept apart from the owner by a block, and shows them again when
/// there is none any more.
struct ShareBlocks: Sendable {
  let database: any Database
  let groups: GroupsClient
  let memberships: GroupMemberships
  let now: @Sendable () -> Date

  /// Safe to repeat, and to call late: whether there is a block is asked of groups.
  func update(between one: UserID, and other: UserID) async throws {
    for user in [one, other] { memberships.endCache(of: user) }
    let isBlocked = try await groups.relations(of: one, to: [other]).blocked.contains(other)
    for (owner, recipient) in [(one, other), (other, one)] {
      while try await hide(isBlocked, from: recipient, of: owner) == ShareStore.batchSize {}
    }
  }

  /// - Returns: how many shares were changed, at most a batch.
  private func hide(_ isHidden: Bool, from recipient: UserID, of owner: UserID) async throws -> Int {
    let engine = database.engine
    let caller = RestQueries.Caller(owner, at: now())
    return try await database.write { db in
      let keys = try ShareStore.hide(isHidden, from: recipient, of: owner, on: db)
      let events = ShareEvents(engine: engine)
      for key in keys {
        if isHidden {
          events.hidden(key, from: recipient, of: owner, at: caller.now, on: db)
        } else {
          try events.shown(key, to: recipient, for: caller, on: db)
        }
      }
      return keys.count
    }
  }
}
