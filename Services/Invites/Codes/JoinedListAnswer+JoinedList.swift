import ClientBodies
import Wire

/// The response to a user who has joined a list.
extension JoinedListAnswer {
  /// - Throws: 410 when the user was removed from the list again before this response.
  init(_ joined: Wire.JoinedList, _ person: Person) throws(Failure) {
    guard let id = joined.membershipID else { throw .inviteUnusable }
    let (list, role) = (joined.list, joined.role)
    self.init(
      message: "Invite accepted",
      list: .init(id: list.id, name: list.name, color: list.color, visibility: list.visibility, role: role),
      membership: Member(
        id: id, role: role, user: .init(id: person.number, email: person.email, name: person.name)))
  }
}
