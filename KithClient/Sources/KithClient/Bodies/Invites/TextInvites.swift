import Foundation

/// What became of the invitations of a group.
public struct SentInvites: Sendable, Equatable, Codable {
  /// A text message that was sent.
  public struct Text: Sendable, Equatable, Codable {
    public let phoneNumber: String
    public let inviteCode: String

    private enum CodingKeys: String, CodingKey {
      case phoneNumber = "phone_number"
      case inviteCode = "invite_code"
    }

    public init(phoneNumber: String, inviteCode: String) {
      self.phoneNumber = phoneNumber
      self.inviteCode = inviteCode
    }
  }

  /// Without those whose number was invited to this group within a day.
  public let sentInvites: [Text]
  public let addedMembers: Int

  private enum CodingKeys: String, CodingKey {
    case sentInvites = "sent_invites"
    case addedMembers = "added_members"
  }

  public init(sentInvites: [Text], addedMembers: Int) {
    self.sentInvites = sentInvites
    self.addedMembers = addedMembers
  }
}

/// The group that a code has let the user into.
public struct JoinedGroup: Sendable, Equatable, Codable {
  public let groupID: SharedGroup.ID
  public let groupName: String

  private enum CodingKeys: String, CodingKey {
    case groupID = "group_id"
    case groupName = "group_name"
  }

  public init(groupID: SharedGroup.ID, groupName: String) {
    self.groupID = groupID
    self.groupName = groupName
  }
}

/// A text invitation that nobody has used yet.
public struct PendingInvite: Sendable, Equatable, Codable, Identifiable {
  /// Who has sent an invitation.
  public struct Inviter: Sendable, Equatable, Codable {
    public let firstName: String

    private enum CodingKeys: String, CodingKey {
      case firstName = "first_name"
    }

    public init(firstName: String) {
      self.firstName = firstName
    }
  }

  public let id: String
  public let groupID: SharedGroup.ID
  /// Masked, but for who has sent it.
  public let phoneNumber: String?
  /// Always nil: only who gets the text knows the code.
  @NullCodable public private(set) var code: String?
  public let invitedBy: String
  public let createdAt: Date
  public let expiresAt: Date
  @NullCodable public private(set) var usedAt: Date?
  public let profiles: Inviter?

  private enum CodingKeys: String, CodingKey {
    case id, code, profiles
    case groupID = "group_id"
    case phoneNumber = "phone_number"
    case invitedBy = "invited_by"
    case createdAt = "created_at"
    case expiresAt = "expires_at"
    case usedAt = "used_at"
  }

  public init(
    id: String, groupID: SharedGroup.ID, phoneNumber: String?, code: String?, invitedBy: String, createdAt: Date,
    expiresAt: Date, usedAt: Date?, profiles: Inviter?
  ) {
    self.id = id
    self.groupID = groupID
    self.phoneNumber = phoneNumber
    self.code = code
    self.invitedBy = invitedBy
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.usedAt = usedAt
    self.profiles = profiles
  }
}
