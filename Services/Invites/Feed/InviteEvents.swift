import Database
import EventFeed
import Foundation
import Wire

/// The events of invites, on the inviter's own topic.
enum InviteEvents {
  /// A user has joined by the invite. Nothing is recorded when the inviter's account was erased.
  ///
  /// - Parameter claim: what the worker has completed may be answered afterwards, when the user asks again: it is told
  ///   once.
  static func accepted(
    _ invite: Invite, by user: UserID, with claim: ClaimID, at now: Date, on db: any Connection
  ) {
    guard let inviter = invite.inviter else { return }
    EventFeed.record(
      "invite_accepted", to: [EventTopic.user(inviter)],
      ["invite_id": invite.id, "user_id": user, "role": invite.role] + invite.target.ids, of: user,
      at: now, id: EventID(claim.uuid), on: db)
  }
}

extension JoinTarget {
  /// The id with the name that says of what.
  fileprivate var ids: EventFields {
    switch self {
    case .collection(let id): ["collection_id": id.prefixed(.collection)]
    case .group(let id): ["group_id": id]
    case .list(let id): ["list_id": id]
    }
  }
}
