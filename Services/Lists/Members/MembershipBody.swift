import Foundation
import Wire

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
