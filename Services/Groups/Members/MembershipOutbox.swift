import Clients
import Database
import Foundation
import Outbox
import Web
import Wire

/// Tells the adventures service whose membership of a group has ended or begun, so that they lose the group's hunts at
/// once, or receive what happens in them. The messages are written in the transaction that changes the memberships.
struct MembershipOutbox: Sendable {
  let outbox: Outbox
  let serviceAddresses: ServiceAddresses

  /// Once only ended memberships were told.
  private static let kind = "ended_memberships"

  /// Call ``wakeUp()`` once the transaction has committed.
  func add(_ users: [UserID], of group: GroupID, at now: Date, on db: any Connection) throws {
    guard serviceAddresses.configured.contains(.adventures) else { return }
    for start in stride(from: 0, to: users.count, by: ChangedMemberships.usersMax) {
      let batch = Array(users[start..<min(start + ChangedMemberships.usersMax, users.count)])
      try outbox.add(
        Self.kind, Message(group: group, users: batch), user: batch.count == 1 ? batch[0] : nil, at: now, on: db)
    }
  }

  func wakeUp() { outbox.wakeUp() }

  static func delivery(through adventures: AdventuresClient) -> Delivery {
    // What is not told stays open to who has left: adventures may be away for a while.
    Delivery(kind, giveUpAfter: Delivery.month) { message in
      let changed = try message.decode(Message.self)
      try await adventures.updateMemberships(of: changed.users, in: changed.group)
    }
  }

  private struct Message: Codable {
    let group: GroupID
    let users: [UserID]
  }
}
