import Foundation

/// A link that lets one person into a collection.
public struct ShareLink: Sendable, Equatable, Decodable, Identifiable {
  /// A collection or a person of a link.
  public struct Named: Sendable, Equatable, Decodable {
    public let id: String
    public let name: String?
    public let email: String?
  }

  public let id: String
  /// Only in the answer that made the link.
  public let token: String?
  public let role: String
  /// `PENDING`, `ACCEPTED`, `REJECTED`, `REVOKED` or `EXPIRED`.
  public let status: String
  public let expiresAt: Date
  /// For the share sheet. Only in the answer that made the link.
  public let deepLink: URL?
  public let appStoreFallbackURL: URL?
  public let collection: Named
  public let inviter: Named
  public let invitee: Named?
}

/// What became of a share link.
public struct ShareLinkAnswer: Sendable, Equatable, Decodable {
  public let collectionID: String
  public let role: String?
  public let status: String
}

/// Which of the user's contacts have the app.
public struct ContactCheck: Sendable, Equatable, Decodable {
  /// A contact who has an account.
  public struct User: Sendable, Hashable, Decodable {
    public let phoneNumber: String
    public let userID: String
    public let firstName: String
  }

  public let existing: [User]
  public let needsInvite: [String]
}

/// What became of the invitations of a group.
public struct SentInvites: Sendable, Equatable, Decodable {
  /// A text message that was sent.
  public struct Text: Sendable, Equatable, Decodable {
    public let phoneNumber: String
    public let inviteCode: String
  }

  /// Without those whose number was invited to this group within a day.
  public let sentInvites: [Text]
  public let addedMembers: Int
}

/// The group that a code has let the user into.
public struct JoinedGroup: Sendable, Equatable, Decodable {
  public let groupID: SharedGroup.ID
  public let groupName: String
}

/// A text invitation that nobody has used yet.
public struct PendingInvite: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  public let groupID: SharedGroup.ID
  /// Masked, but for who has sent it.
  public let phoneNumber: String?
  public let invitedBy: String
  public let createdAt: Date
  public let expiresAt: Date
}

/// A link with a code that several can use, to a group or a list.
public struct CodeLink<ID: Sendable & Hashable & Decodable>: Sendable, Equatable, Decodable, Identifiable {
  public let id: ID
  public let code: String
  public let role: String?
  public let inviteURL: URL
  public let deepLink: URL?
  public let expiresAt: Date?
  public let maxUses: Int?
  public let usesCount: Int
  /// Whether it has neither expired nor been used up.
  public let usable: Bool
}

/// What a link to a list leads to, for who is not signed in as well.
public struct ListInvitePreview: Sendable, Equatable, Decodable {
  /// The list that the link leads to.
  public struct List: Sendable, Equatable, Decodable {
    public let id: Int
    public let name: String
    public let color: String?
  }

  /// Who has made the link.
  public struct Inviter: Sendable, Equatable, Decodable {
    public let name: String?
  }

  public let code: String
  public let role: String
  public let list: List
  public let inviter: Inviter?
  public let usable: Bool
  public let expired: Bool?
  public let exhausted: Bool?
}

/// Who may do what in a list or by a link to it.
public enum ListRole: String, Sendable, Codable { case editor, viewer }
