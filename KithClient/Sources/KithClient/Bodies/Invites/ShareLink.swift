import Foundation

/// A link that lets one person into a collection.
public struct ShareLink: Sendable, Equatable, Codable, Identifiable {
  /// A collection or a person of a link.
  public struct Named: Sendable, Equatable, Codable {
    public let id: String
    @NullCodable public private(set) var email: String?
    @NullCodable public private(set) var name: String?

    public init(id: String, email: String?, name: String?) {
      self.id = id
      self.email = email
      self.name = name
    }
  }

  /// On the wire, a collection has no `email`.
  private struct Shared: Sendable, Equatable, Codable {
    let id: String
    let name: String?
  }

  public let id: String
  /// Only in the answer that made the link.
  public let token: String?
  public let role: String
  /// `PENDING`, `ACCEPTED`, `REJECTED`, `REVOKED` or `EXPIRED`.
  public let status: String
  public let expiresAt: Date
  /// For the share sheet. Only in the answer that made the link.
  public var deepLink: URL? { appLink?.url }
  public var appStoreFallbackURL: URL? { storeLink?.url }
  private let appLink: LinkText?
  private let storeLink: LinkText?
  private let shared: Shared
  @NullCodable private var maker: Named?
  @NullCodable public private(set) var invitee: Named?
  /// Only for the collection's owner.
  public let createdAt: Date?

  public var collection: Named { Named(id: shared.id, email: nil, name: shared.name) }

  /// Its id is empty when the account was deleted.
  public var inviter: Named { maker ?? Named(id: "", email: nil, name: nil) }

  private enum CodingKeys: String, CodingKey {
    case id, token, role, status, expiresAt, invitee, createdAt
    case appLink = "deepLink"
    case storeLink = "appStoreFallbackUrl"
    case shared = "collection"
    case maker = "inviter"
  }

  /// - Parameters:
  ///   - collectionID: of what it lets people into, which has the name `collectionName`.
  ///   - inviter: nil: the account was deleted.
  public init(
    id: String, token: String? = nil, role: String, status: String, expiresAt: Date, deepLink: String? = nil,
    appStoreFallbackURL: String? = nil, collectionID: String, collectionName: String?, inviter: Named?,
    invitee: Named?, createdAt: Date? = nil
  ) {
    self.id = id
    self.token = token
    self.role = role
    self.status = status
    self.expiresAt = expiresAt
    appLink = deepLink.map { LinkText($0) }
    storeLink = appStoreFallbackURL.map { LinkText($0) }
    shared = Shared(id: collectionID, name: collectionName)
    maker = inviter
    self.invitee = invitee
    self.createdAt = createdAt
  }
}

/// The answer that made a link, the only one with its token. It has no `invitee`.
package struct CreatedShareLink: Sendable, Codable {
  package let link: ShareLink

  package init(_ link: ShareLink) { self.link = link }

  package init(from decoder: any Decoder) throws { link = try ShareLink(from: decoder) }

  package func encode(to encoder: any Encoder) throws { try link.encodeMade(to: encoder) }
}

extension ShareLink {
  /// Without `invitee` and `createdAt`.
  fileprivate func encodeMade(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(token, forKey: .token)
    try container.encode(role, forKey: .role)
    try container.encode(status, forKey: .status)
    try container.encode(expiresAt, forKey: .expiresAt)
    try container.encode(appLink, forKey: .appLink)
    try container.encode(storeLink, forKey: .storeLink)
    try container.encode(shared, forKey: .shared)
    try container.encode(maker, forKey: .maker)
  }
}

/// What became of a share link.
public struct ShareLinkAnswer: Sendable, Equatable, Codable {
  public let collectionID: String
  /// Only of one that was accepted.
  public let role: String?
  public let status: String

  private enum CodingKeys: String, CodingKey {
    case role, status
    case collectionID = "collectionId"
  }

  package static func accepted(_ collectionID: String, role: String) -> ShareLinkAnswer {
    ShareLinkAnswer(collectionID: collectionID, role: role, status: "ACCEPTED")
  }

  package static func rejected(_ collectionID: String) -> ShareLinkAnswer {
    ShareLinkAnswer(collectionID: collectionID, status: "REJECTED")
  }

  public init(collectionID: String, role: String? = nil, status: String) {
    self.collectionID = collectionID
    self.role = role
    self.status = status
  }
}
