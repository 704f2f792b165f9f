import Foundation

/// A group of people who go out together, joined by a code.
public struct SocialGroup: Sendable, Equatable, Codable, Identifiable {
  /// Who is in a group, and since when.
  public struct Membership: Sendable, Equatable, Codable, Identifiable {
    public let id: String
    public let groupID: String
    public let userID: String
    public let joinedAt: Date

    private enum CodingKeys: String, CodingKey {
      case id
      case groupID = "group_id"
      case userID = "user_id"
      case joinedAt = "joined_at"
    }

    public init(id: String, groupID: String, userID: String, joinedAt: Date) {
      self.id = id
      self.groupID = groupID
      self.userID = userID
      self.joinedAt = joinedAt
    }
  }

  public let id: String
  public let name: String
  public let description: String?
  public let createdBy: String
  public let inviteCode: String
  /// The text of a QR code.
  public let qrCode: String?
  public let memberCount: Int?
  public let createdAt: Date
  public let updatedAt: Date

  private enum CodingKeys: String, CodingKey {
    case id, name, description
    case createdBy = "created_by"
    case inviteCode = "invite_code"
    case qrCode = "qr_code"
    case memberCount = "member_count"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
  }

  public init(
    id: String, name: String, description: String?, createdBy: String, inviteCode: String, qrCode: String?,
    memberCount: Int?, createdAt: Date, updatedAt: Date
  ) {
    self.id = id
    self.name = name
    self.description = description
    self.createdBy = createdBy
    self.inviteCode = inviteCode
    self.qrCode = qrCode
    self.memberCount = memberCount
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}
