import Foundation
import Wire

/// Why a user cannot join by an invite, before it is translated into the failures of one app's API.
enum JoinRefusal: Error, Hashable {
  case inviteNotFound
  /// The invite was answered, used up or revoked.
  case ended(Invite.State)
  case expired
  case alreadyOwner
  case wrongUser
  /// The target does not exist any more.
  case targetNotFound
  /// The inviter may not invite to the target any more.
  case inviterLacksPermission
  /// The target's service did not add the user.
  case rejectedByTarget(JoinOutcome)
}

extension Invite {
  /// Checks that the invite is open and for this user.
  ///
  /// - Parameter addressMatches: whether the invite is for no e-mail address, or for the user's.
  /// - Throws: the first ``JoinRefusal`` that applies: ended or expired before wrong user.
  func requireOpen(to user: UserID, at now: Date, addressMatches: Bool) throws(JoinRefusal) {
    switch state(at: now) {
    case .pending: if isUsedUp { throw .ended(.accepted) }
    case .expired: throw .expired
    case let state: throw .ended(state)
    }
    guard invitee == nil || invitee == user, addressMatches else { throw .wrongUser }
  }
}
