import Foundation
import Wire

/// A user's membership in a list that another user owns.
struct Membership: Sendable, Hashable {
  let id: Int
  let list: Int
  let user: UserID
  let role: ListRole
  /// The ID of the invite by which they joined.
  let invite: String?
  let createdAt: Date
  let updatedAt: Date
  /// The e-mail address by which the caller has added them; nil when somebody else has.
  var enteredEmail: String?

  /// Roles that a member can have.
  static let roles = [ListRole.editor, ListRole.viewer].map(\.rawValue)
}

extension Failure {
  static let membershipNotFound = Failure(.notFound, "membership_not_found", "There is no such member.")
  static let alreadyMember = Failure(.conflict, "already_member", "They are in this list already.")
}
