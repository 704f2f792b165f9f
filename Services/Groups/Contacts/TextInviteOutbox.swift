import Clients
import Database
import Foundation
import Outbox
import Wire

/// Writes outbox messages that request invitations by text message for phone numbers without a user, in the transaction
/// that creates the group, and delivers them to the invites service.
struct TextInviteOutbox: Sendable {
  let outbox: Outbox

  private static let kind = "text_to_group"

  /// Adds one message per number, for at most `seats` numbers. Call ``wakeUp()`` once the transaction has committed.
  func add(
    _ numbers: Set<String>, to group: GroupID, by owner: UserID, from clientAddress: String, seats: Int,
    at now: Date, on db: any Connection
  ) throws {
    for number in numbers.sorted().prefix(max(0, seats)) {
      let invitation = TextInvitationRequest(
        group: group, invitedBy: owner, number: number, clientAddress: clientAddress)
      try outbox.add(Self.kind, invitation, user: owner, at: now, on: db)
    }
  }

  /// Makes the outbox look for messages now.
  func wakeUp() { outbox.wakeUp() }

  /// Sends each message to the invites service. When the quotas of text messages are used up, the delivery is retried
  /// for a day.
  static func delivery(through invites: InvitesClient) -> Delivery {
    Delivery(kind) { message in
      do { _ = try await invites.sendText(try message.decode()) } catch let refusal as Failure {
        switch refusal.kind {
        case .limited: throw TryLater(after: .seconds(refusal.retryAfterSeconds ?? 60))
        // The owner has left the group or has no verified address, or the number is invalid, so a retry cannot succeed.
        // A 404 comes from an older process that lacks the endpoint, and is retried.
        case .forbidden, .malformed, .invalid, .unprocessable: return
        default: throw refusal
        }
      }
    }
  }
}
