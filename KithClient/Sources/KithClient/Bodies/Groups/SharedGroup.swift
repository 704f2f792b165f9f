import Foundation

/// A group of at most twelve, who send each other one photo a day.
public struct SharedGroup: Sendable, Equatable, Codable, Identifiable {
  /// Somebody who is in a group.
  public struct Member: Sendable, Equatable, Codable, Identifiable {
    public let id: String
    public let firstName: String
    public let role: String?

    private enum CodingKeys: String, CodingKey {
      case id, role
      case firstName = "first_name"
    }

    public init(id: String, firstName: String, role: String?) {
      self.id = id
      self.firstName = firstName
      self.role = role
    }
  }

  /// The last photo, and whose it is.
  public struct LastPhoto: Sendable, Equatable, Codable {
    public let createdAt: Date
    /// The same, under the name that an older version of the app reads.
    public let timestamp: Date?
    public let senderID: String
    public let senderName: String

    private enum CodingKeys: String, CodingKey {
      case timestamp
      case createdAt = "created_at"
      case senderID = "sender_id"
      case senderName = "sender_name"
    }

    public init(createdAt: Date, timestamp: Date?, senderID: String, senderName: String) {
      self.createdAt = createdAt
      self.timestamp = timestamp
      self.senderID = senderID
      self.senderName = senderName
    }
  }

  public let id: String
  public let name: String
  @NullCodable public private(set) var description: String?
  /// The IANA time zone in which the group's day begins.
  public let timeZone: String?
  public let inviteCode: String?
  public let createdAt: Date
  public let role: String?
  public let memberCount: Int
  public let members: [Member]
  public let hasSentToday: Bool
  @NullCodable public private(set) var lastPhoto: LastPhoto?

  private enum CodingKeys: String, CodingKey {
    case id, name, description, role, members
    case timeZone = "time_zone"
    case inviteCode = "invite_code"
    case createdAt = "created_at"
    case memberCount = "member_count"
    case hasSentToday = "has_sent_today"
    case lastPhoto = "last_photo"
  }

  public init(
    id: String, name: String, description: String?, timeZone: String?, inviteCode: String?, createdAt: Date,
    role: String?, memberCount: Int, members: [Member], hasSentToday: Bool, lastPhoto: LastPhoto?
  ) {
    self.id = id
    self.name = name
    self.description = description
    self.timeZone = timeZone
    self.inviteCode = inviteCode
    self.createdAt = createdAt
    self.role = role
    self.memberCount = memberCount
    self.members = members
    self.hasSentToday = hasSentToday
    self.lastPhoto = lastPhoto
  }
}
