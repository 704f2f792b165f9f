import Foundation

/// Asks for a text that invites a phone number to a group, as a member who names it would send one.
package struct TextToGroup: Codable, Sendable, Hashable {
  package let group: GroupID
  package let invitedBy: UserID
  package let number: String
  /// From where the member has named it, for counting.
  package let place: String

  package init(group: GroupID, invitedBy: UserID, number: String, place: String) {
    self.group = group
    self.invitedBy = invitedBy
    self.number = number
    self.place = place
  }

  private enum CodingKeys: String, CodingKey {
    case group, number, place
    case invitedBy = "invited_by"
  }
}

/// What became of it: nothing is sent to who was invited to this group within a day.
package struct TextedToGroup: Codable, Sendable, Hashable {
  package let isSent: Bool

  package init(isSent: Bool) { self.isSent = isSent }

  private enum CodingKeys: String, CodingKey {
    case isSent = "is_sent"
  }
}
