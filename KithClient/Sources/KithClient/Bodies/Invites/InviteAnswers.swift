/// One invitation.
package struct InviteAnswer<Value: Sendable>: Sendable {
  package let invite: Value

  package init(invite: Value) {
    self.invite = invite
  }
}

extension InviteAnswer: Encodable where Value: Encodable {}
extension InviteAnswer: Decodable where Value: Decodable {}

/// Several invitations.
package struct InvitesAnswer<Value: Sendable>: Sendable {
  package let invites: [Value]

  package init(invites: [Value]) {
    self.invites = invites
  }
}

extension InvitesAnswer: Encodable where Value: Encodable {}
extension InvitesAnswer: Decodable where Value: Decodable {}
