import Foundation

/// What a link to a list leads to, for who is not signed in as well; or an invitation for the user.
public struct ListInvitePreview: Sendable, Equatable, Codable {
  /// The list that the link leads to.
  public struct List: Sendable, Equatable, Codable {
    public let id: Int
    public let name: String
    public let color: String?
    public let visibility: String?

    public init(id: Int, name: String, color: String?, visibility: String?) {
      self.id = id
      self.name = name
      self.color = color
      self.visibility = visibility
    }
  }

  /// Who has made the link.
  public struct Inviter: Sendable, Equatable, Codable {
    public let name: String?

    public init(name: String?) {
      self.name = name
    }
  }

  /// Of an invitation for the user.
  public let id: Int?
  public let code: String
  public let role: String
  /// Of an invitation for the user, as the next one.
  public var inviteURL: URL? { link?.url }
  public var deepLink: URL? { appLink?.url }
  public let list: List
  public let inviter: Inviter?
  /// Of an invitation for the user, as the next two.
  public let expiresAt: Date?
  public let maxUses: Int?
  public let usesCount: Int?
  public let usable: Bool
  /// Of a code, as the next one.
  public let expired: Bool?
  public let exhausted: Bool?
  /// Of an invitation for the user.
  public let createdAt: Date?
  private let link: LinkText?
  private let appLink: LinkText?

  private enum CodingKeys: String, CodingKey {
    case id, code, role, list, inviter, usable, expired, exhausted
    case link = "invite_url"
    case appLink = "deep_link"
    case expiresAt = "expires_at"
    case maxUses = "max_uses"
    case usesCount = "uses_count"
    case createdAt = "created_at"
  }

  public init(
    id: Int? = nil, code: String, role: String, inviteURL: String? = nil, deepLink: String? = nil,
    list: List, inviter: Inviter?, expiresAt: Date? = nil, maxUses: Int? = nil, usesCount: Int? = nil, usable: Bool,
    expired: Bool? = nil, exhausted: Bool? = nil, createdAt: Date? = nil
  ) {
    self.id = id
    self.code = code
    self.role = role
    link = inviteURL.map { LinkText($0) }
    appLink = deepLink.map { LinkText($0) }
    self.list = list
    self.inviter = inviter
    self.expiresAt = expiresAt
    self.maxUses = maxUses
    self.usesCount = usesCount
    self.usable = usable
    self.expired = expired
    self.exhausted = exhausted
    self.createdAt = createdAt
  }
}

/// The list that an invitation has let the user into.
public struct JoinedList: Sendable, Equatable, Codable, Identifiable {
  public let id: SharedList.ID
  public let name: String
  public let color: String?
  public let visibility: String?
  public let role: String?

  public init(id: SharedList.ID, name: String, color: String?, visibility: String?, role: String?) {
    self.id = id
    self.name = name
    self.color = color
    self.visibility = visibility
    self.role = role
  }
}

/// The list that the user is in now, and as what.
package struct JoinedListAnswer: Sendable, Codable {
  package struct Member: Sendable, Codable {
    package struct User: Sendable, Codable {
      package let id: Int
      @NullCodable package private(set) var email: String?
      @NullCodable package private(set) var name: String?

      package init(id: Int, email: String?, name: String?) {
        self.id = id
        self.email = email
        self.name = name
      }
    }

    package let id: Int
    package let role: String?
    package let user: User?

    package init(id: Int, role: String?, user: User?) {
      self.id = id
      self.role = role
      self.user = user
    }
  }

  package let message: String?
  package let list: JoinedList
  package let membership: Member?

  package init(message: String?, list: JoinedList, membership: Member?) {
    self.message = message
    self.list = list
    self.membership = membership
  }
}
