import Foundation
import Wire

/// A request for a link. Every member is optional, the body itself is not.
struct CreateShareLinkBody: Decodable {
  let role: String?
  let inviteeUserId: String?
  let inviteeEmail: String?

  /// The role that the link gives, which is always view only: the owner of the collection raises it later.
  ///
  /// - Throws: the validation failure that names the field.
  func givenRole() throws(Failure) -> CollectionRole {
    switch role.map(CollectionRole.init) {
    case nil, .viewOnly?, .editor?: return .viewOnly
    default: throw .invalid(.init("role", "must be VIEW_ONLY or EDITOR"))
    }
  }

  func invitee() throws(Failure) -> UserID? {
    guard let inviteeUserId else { return nil }
    guard let user = UserID(inviteeUserId, prefix: .user) else {
      throw .invalid(.init("inviteeUserId", "must be a user's id"))
    }
    return user
  }

  func email() throws(Failure) -> String? {
    guard let email = inviteeEmail?.trimmingCharacters(in: .whitespacesAndNewlines) else { return nil }
    guard email.utf8.count <= 254, email.wholeMatch(of: /[^@\s]+@[^@\s]+/) != nil else {
      throw .invalid(.init("inviteeEmail", "must be an e-mail address"))
    }
    return email
  }
}
