import Foundation
import Wire

/// Why somebody cannot come in by an invite, before it is said in the words of their app.
enum JoinRefusal: Error, Hashable {
  case unknown
  /// It was answered, used up or taken back.
  case over(Invite.State)
  case expired
  case ownsIt
  case forSomebodyElse
  /// What it leads to is not there any more.
  case gone
  /// Whoever made it may not invite any more.
  case lapsed
  case notLetIn(JoinOutcome)
}

extension Invite {
  /// - Throws: ``JoinRefusal``, the first of the reasons for which nobody, or not this user, can come in by it.
  func requireOpen(to user: UserID, at now: Date, isAddressed: Bool) throws(JoinRefusal) {
    switch state(at: now) {
    case .pending: if isUsedUp { throw .over(.accepted) }
    case .expired: throw .expired
    case let state: throw .over(state)
    }
    guard invitee == nil || invitee == user, isAddressed else { throw .forSomebodyElse }
  }
}
