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

/// The JSON of a membership.
struct MembershipBody: Encodable {
  let id: Int
  let user: PersonBody
  @NullCodable var name: String?
  let role: ListRole
  let created_at: String
  let updated_at: String

  /// nil when the user has deleted their account.
  init?(_ membership: Membership, _ people: [UserID: Person]) {
    guard let person = people[membership.user] else { return nil }
    id = membership.id
    user = PersonBody(person, enteredEmail: membership.enteredEmail)
    _name = NullCodable(wrappedValue: person.name)
    role = membership.role
    created_at = RFC3339.milliseconds(membership.createdAt)
    updated_at = RFC3339.milliseconds(membership.updatedAt)
  }
}

extension Failure {
  static let membershipNotFound = Failure(.notFound, "membership_not_found", "There is no such member.")
  static let alreadyMember = Failure(.conflict, "already_member", "They are in this list already.")
}
