import Foundation

/// A link with a code that several can use, to a group or a list.
public struct CodeLink<ID: Sendable & Hashable & Codable>: Sendable, Equatable, Codable, Identifiable {
  public let id: ID
  public let code: String
  @NullCodable public private(set) var role: String?
  public var inviteURL: URL { link.url }
  public var deepLink: URL? { appLink?.url }
  public let expiresAt: Date?
  @NullCodable public private(set) var maxUses: Int?
  public let usesCount: Int
  /// Whether it has neither expired nor been used up.
  public let usable: Bool
  public let createdAt: Date?
  private let link: LinkText
  private let appLink: LinkText?

  private enum CodingKeys: String, CodingKey {
    case id, code, role, usable
    case link = "invite_url"
    case appLink = "deep_link"
    case expiresAt = "expires_at"
    case maxUses = "max_uses"
    case usesCount = "uses_count"
    case createdAt = "created_at"
  }

  public init(
    id: ID, code: String, role: String?, inviteURL: String, deepLink: String?, expiresAt: Date?, maxUses: Int?,
    usesCount: Int, usable: Bool, createdAt: Date?
  ) {
    self.id = id
    self.code = code
    self.role = role
    link = LinkText(inviteURL)
    appLink = deepLink.map { LinkText($0) }
    self.expiresAt = expiresAt
    self.maxUses = maxUses
    self.usesCount = usesCount
    self.usable = usable
    self.createdAt = createdAt
  }
}
