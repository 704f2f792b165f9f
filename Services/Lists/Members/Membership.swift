import Foundation
import Wire

/// Somebody's place in a list that another owns.
struct Membership: Sendable, Hashable {
  let id: Int
  let list: Int
  let user: UserID
  let role: Role
  /// The invite by which they came.
  let invite: String?
  let createdAt: Date
  let updatedAt: Date
  /// The e-mail address by which whoever looks has let them in.
  var namedAs: String?

  /// Roles that can be given.
  static let roles = [Role.editor, Role.viewer].map(\.rawValue)
}

/// A member as the apps see one.
struct MembershipBody: Encodable {
  let id: Int
  let user: PersonBody
  @OrNull var name: String?
  let role: Role
  let created_at: String
  let updated_at: String

  /// nil for somebody who has deleted their account.
  init?(_ membership: Membership, _ people: [UserID: Person]) {
    guard let person = people[membership.user] else { return nil }
    id = membership.id
    user = PersonBody(person, email: membership.namedAs)
    _name = OrNull(wrappedValue: person.name)
    role = membership.role
    created_at = Instant.milliseconds(membership.createdAt)
    updated_at = Instant.milliseconds(membership.updatedAt)
  }
}

extension Failure {
  static let membershipNotFound = Failure(.notFound, "membership_not_found", "There is no such member.")
  static let alreadyMember = Failure(.conflict, "already_member", "They are in this list already.")
}
