import Foundation

/// Requests a text message that invites a phone number to a group, on behalf of a member.
package struct TextInvitationRequest: Codable, Sendable, Hashable {
  package let group: GroupID
  package let invitedBy: UserID
  package let number: String
  /// The member's client address, for rate limits.
  package let clientAddress: String

  package init(group: GroupID, invitedBy: UserID, number: String, clientAddress: String) {
    self.group = group
    self.invitedBy = invitedBy
    self.number = number
    self.clientAddress = clientAddress
  }

  private enum CodingKeys: String, CodingKey {
    case group, number
    case clientAddress = "place"
    case invitedBy = "invited_by"
  }
}

/// The reply to ``TextInvitationRequest``. Nothing is sent to a number that was invited to this group within a day.
package struct TextInvitationResult: Codable, Sendable, Hashable {
  package let isSent: Bool

  package init(isSent: Bool) { self.isSent = isSent }

  private enum CodingKeys: String, CodingKey {
    case isSent = "is_sent"
  }
}
