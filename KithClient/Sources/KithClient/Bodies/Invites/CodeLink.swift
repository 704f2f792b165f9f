import Foundation

/// A link with a code that several can use, to a group or a list.
public struct CodeLink<ID: Sendable & Hashable & Codable>: Sendable, Equatable, Codable, Identifiable {
  public let id: ID
  public let code: String
  @NullCodable public private(set) var role: String?
  public let inviteURL: URL
  public let deepLink: URL?
  public let expiresAt: Date?
  @NullCodable public private(set) var maxUses: Int?
  public let usesCount: Int
  /// Whether it has neither expired nor been used up.
  public let usable: Bool
  public let createdAt: Date?

  private enum CodingKeys: String, CodingKey {
    case id, code, role, usable
    case inviteURL = "invite_url"
    case deepLink = "deep_link"
    case expiresAt = "expires_at"
    case maxUses = "max_uses"
    case usesCount = "uses_count"
    case createdAt = "created_at"
  }

  public init(
    id: ID, code: String, role: String?, inviteURL: URL, deepLink: URL?, expiresAt: Date?, maxUses: Int?,
    usesCount: Int, usable: Bool, createdAt: Date?
  ) {
    self.id = id
    self.code = code
    self.role = role
    self.inviteURL = inviteURL
    self.deepLink = deepLink
    self.expiresAt = expiresAt
    self.maxUses = maxUses
    self.usesCount = usesCount
    self.usable = usable
    self.createdAt = createdAt
  }
}
