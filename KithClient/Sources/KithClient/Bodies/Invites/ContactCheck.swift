/// Which of the user's contacts have the app.
public struct ContactCheck: Sendable, Equatable, Codable {
  /// A contact who has an account.
  public struct User: Sendable, Hashable, Codable {
    public let phoneNumber: String
    public let userID: String
    public let firstName: String

    private enum CodingKeys: String, CodingKey {
      case phoneNumber = "phone_number"
      case userID = "user_id"
      case firstName = "first_name"
    }

    public init(phoneNumber: String, userID: String, firstName: String) {
      self.phoneNumber = phoneNumber
      self.userID = userID
      self.firstName = firstName
    }
  }

  public let existing: [User]
  /// The same, under the name that another version of the app reads.
  public let existingUsers: [User]?
  public let needsInvite: [String]

  private enum CodingKeys: String, CodingKey {
    case existing
    case existingUsers = "existing_users"
    case needsInvite = "needs_invite"
  }

  public init(existing: [User], existingUsers: [User]?, needsInvite: [String]) {
    self.existing = existing
    self.existingUsers = existingUsers
    self.needsInvite = needsInvite
  }
}
