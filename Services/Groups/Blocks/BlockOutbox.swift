import Clients
import Database
import Foundation
import Outbox
import Web
import Wire

/// Tells the adventures service between whom there is a block, or no block any more, so that it hides what they share.
/// The messages are written in the transaction that changes the block.
struct BlockOutbox: Sendable {
  let outbox: Outbox
  let serviceAddresses: ServiceAddresses

  private static let kind = "changed_blocks"

  /// Call ``wakeUp()`` once the transaction has committed.
  func add(between blocker: UserID, and other: UserID, at now: Date, on db: any Connection) throws {
    guard serviceAddresses.configured.contains(.adventures) else { return }
    try outbox.add(Self.kind, ChangedBlock(one: blocker, other: other), user: blocker, at: now, on: db)
  }

  func wakeUp() { outbox.wakeUp() }

  static func delivery(through adventures: AdventuresClient) -> Delivery {
    // What is not told stays shown to who is blocked: adventures may be away for a while.
    Delivery(kind, giveUpAfter: Delivery.month) { message in
      try await adventures.updateBlock(message.decode(ChangedBlock.self))
    }
  }
}
