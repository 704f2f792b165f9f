import Clients
import Database
import Foundation
import Outbox
import Wire

/// The texts to those whom a new group's maker has named by numbers of nobody: noted with the group, and asked for where
/// all invitations are written.
struct GroupTexts: Sendable {
  let outbox: Outbox

  private static let kind = "text_to_group"

  /// No more than there are places left. Call ``ring()`` once the transaction has committed.
  func add(
    _ numbers: Set<String>, to group: GroupID, by owner: UserID, from place: String, seats: Int, at now: Date,
    on db: any Connection
  ) throws {
    for number in numbers.sorted().prefix(max(0, seats)) {
      let text = TextToGroup(group: group, invitedBy: owner, number: number, place: place)
      try outbox.add(Self.kind, text, user: owner, at: now, on: db)
    }
  }

  func ring() { outbox.ring() }

  /// Beyond the limits of all texts it waits until there is room, for a day.
  static func delivery(through invites: InvitesClient) -> Delivery {
    Delivery(kind) { post in
      do { _ = try await invites.text(try post.decode()) } catch let refusal as Failure {
        switch refusal.kind {
        case .limited: throw TryLater(after: .seconds(refusal.retryAfterSeconds ?? 60))
        // The owner has left or has proven nothing, or it is no number: nobody is to be invited any more. A 404 is an
        // older process's, which does not know the path.
        case .forbidden, .malformed, .invalid, .unprocessable: return
        default: throw refusal
        }
      }
    }
  }
}
