import Clients
import Database
import Foundation
import Outbox
import Web
import Wire

/// Tells the adventures service whose membership of a group has ended, so that they lose the group's hunts at once. The
/// messages are written in the transaction that ends the memberships.
struct DepartureOutbox: Sendable {
  let outbox: Outbox
  let serviceAddresses: ServiceAddresses

  private static let kind = "ended_memberships"

  /// Call ``wakeUp()`` once the transaction has committed.
  func add(_ users: [UserID], from group: GroupID, at now: Date, on db: any Connection) throws {
    guard serviceAddresses.configured.contains(.adventures) else { return }
    for start in stride(from: 0, to: users.count, by: EndedMemberships.usersMax) {
      let batch = Array(users[start..<min(start + EndedMemberships.usersMax, users.count)])
      try outbox.add(
        Self.kind, Message(group: group, users: batch), user: batch.count == 1 ? batch[0] : nil, at: now, on: db)
    }
  }

  func wakeUp() { outbox.wakeUp() }

  static func delivery(through adventures: AdventuresClient) -> Delivery {
    Delivery(kind) { message in
      let ended = try message.decode(Message.self)
      try await adventures.endMemberships(of: ended.users, in: ended.group)
    }
  }

  private struct Message: Codable {
    let group: GroupID
    let users: [UserID]
  }
}
