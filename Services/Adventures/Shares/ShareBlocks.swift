import Clients
import Database
import Foundation
import Outbox
import RestQueries
import Wire

/// Hides shared arrival times from recipients who are kept apart from the owner by a block, and shows them again when
/// there is none any more.
struct ShareBlocks: Sendable {
  let database: any Database
  let groups: GroupsClient
  let memberships: GroupMemberships
  let now: @Sendable () -> Date

  private static let roundsMax = 5

  /// Safe to repeat, and to call late: whether there is a block is asked of groups, and once more after each change, as
  /// another call may have been answered before or after it.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` when groups does not answer.
  func update(between one: UserID, and other: UserID) async throws {
    for _ in 0..<Self.roundsMax {
      for user in [one, other] { memberships.endCache(of: user) }
      let isBlocked = try await groups.relations(of: one, to: [other]).blocked.contains(other)
      var hasChanged = false
      for (owner, recipient) in [(one, other), (other, one)] {
        var count = 0
        repeat {
          count = try await hide(isBlocked, from: recipient, of: owner)
          if count > 0 { hasChanged = true }
        } while count == ShareStore.batchSize
      }
      if !hasChanged { return }
    }
    throw Failure.unavailable
  }

  private static let kind = "blocks_of_shares"

  /// Checks, once a share is there, who is kept apart from its owner: a block that was made, or has ended, while the
  /// share was written did not find it. The message is written in the transaction of the share.
  static func checkLater(
    _ recipients: Set<UserID>, of owner: UserID, _ outbox: Outbox, at now: Date, on db: any Connection
  ) throws {
    guard !recipients.isEmpty else { return }
    try outbox.add(kind, SharedWith(owner: owner, recipients: recipients), user: owner, at: now, on: db)
  }

  private struct SharedWith: Codable {
    let owner: UserID
    let recipients: Set<UserID>
  }

  func delivery() -> Delivery {
    Delivery(Self.kind, giveUpAfter: Delivery.month) { [self] message in
      let shared = try message.decode(SharedWith.self)
      let blocked = try await groups.relations(of: shared.owner, to: shared.recipients).blocked
      let wrong = try await database.readOnce { db in
        try ShareStore.recipients(of: shared.owner, among: shared.recipients, butNotAs: blocked, on: db)
      }
      for other in wrong { try await update(between: shared.owner, and: other) }
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
