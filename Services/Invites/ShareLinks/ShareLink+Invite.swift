import ClientBodies
import Foundation
import Wire

/// A link in responses to everybody who has it, and in the owner's list.
extension ShareLink {
  /// - Parameter isOwn: whether it is for the owner's list.
  init(
    _ invite: Invite, to collection: CollectionID, named name: String, _ people: [UserID: Person], at now: Date,
    isOwn: Bool
  ) {
    self.init(
      id: invite.id.prefixed(.invite), role: invite.role ?? "", status: invite.status(at: now),
      expiresAt: invite.expiresAt, collectionID: collection.prefixed(.collection), collectionName: name,
      inviter: invite.inviter.map { Named($0, people[$0]) },
      invitee: invite.invitee.map { Named(invitee: $0, people[$0]) }, createdAt: isOwn ? invite.createdAt : nil)
  }
}

/// A user in an invite, with the data that its reader may see.
extension ShareLink.Named {
  init(_ id: UserID, _ person: Person?) {
    self.init(id: id.prefixed(.user), email: person?.email, name: person?.name)
  }

  /// The invitee, with the first name only: an inviter may address anybody whose id they may know, and everybody who
  /// has the token reads the response, so more would reveal personal data to strangers.
  init(invitee id: UserID, _ person: Person?) {
    self.init(
      id: id.prefixed(.user), email: nil, name: person.map(\.shortName).flatMap { $0.isEmpty ? nil : $0 })
  }
}

extension Invite {
  func status(at now: Date) -> String { state(at: now).rawValue.uppercased() }
}
