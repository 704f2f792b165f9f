import ClientBodies
import Foundation
import Wire

extension ClientBodies.ListMembership {
  /// nil when the user has deleted their account.
  init?(_ membership: Membership, _ people: [UserID: Person]) {
    guard let person = people[membership.user] else { return nil }
    self.init(
      id: membership.id, user: SharedList.Person(person, enteredEmail: membership.enteredEmail), name: person.name,
      role: membership.role.rawValue, createdAt: membership.createdAt, updatedAt: membership.updatedAt)
  }
}

extension SharedList.Person {
  /// A membership in the JSON of its list; nil when the user has deleted their account.
  init?(_ membership: Membership, _ people: [UserID: Wire.Person]) {
    guard let membership = ClientBodies.ListMembership(membership, people) else { return nil }
    let user = membership.user
    self.init(
      id: membership.id, name: membership.name, role: membership.role,
      user: User(id: user.id, email: user.email, name: user.name), createdAt: membership.createdAt,
      updatedAt: membership.updatedAt)
  }
}
