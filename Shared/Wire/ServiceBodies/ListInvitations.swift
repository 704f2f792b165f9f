import Foundation

/// Creates an invite to a list that one person can accept: a user, or whoever verifies an e-mail address.
package struct InviteToList: Codable, Sendable {
  package enum Invitee: Codable, Sendable, Hashable {
    case user(UserID)
    /// As the inviter typed it.
    case email(String)
  }

  package let list: Int
  package let role: String
  package let invitedBy: UserID
  package let invitee: Invitee

  package init(list: Int, role: String, invitedBy: UserID, invitee: Invitee) {
    self.list = list
    self.role = role
    self.invitedBy = invitedBy
    self.invitee = invitee
  }

  private enum CodingKeys: String, CodingKey {
    case list, role, invitee
    case invitedBy = "invited_by"
  }
}

/// An open invite to a list for one person.
package struct ListInvitation: Codable, Sendable, Hashable {
  /// An integer id of the invite, for apps that do not support UUIDs.
  package let number: Int
  package let code: String
  package let url: String
  package let role: String
  package let createdAt: Date
  package let expiresAt: Date

  package init(number: Int, code: String, url: String, role: String, createdAt: Date, expiresAt: Date) {
    self.number = number
    self.code = code
    self.url = url
    self.role = role
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }

  private enum CodingKeys: String, CodingKey {
    case number, code, url, role
    case createdAt = "created_at"
    case expiresAt = "expires_at"
  }
}
