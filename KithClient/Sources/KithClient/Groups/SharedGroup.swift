import Foundation

/// A group of at most twelve, who send each other one photo a day.
public struct SharedGroup: Sendable, Equatable, Decodable, Identifiable {
  /// Somebody who is in a group.
  public struct Member: Sendable, Equatable, Decodable, Identifiable {
    public let id: String
    public let firstName: String
    public let role: String?
  }

  /// The last photo, and whose it is.
  public struct LastPhoto: Sendable, Equatable, Decodable {
    public let createdAt: Date
    public let senderID: String
    public let senderName: String
  }

  public let id: String
  public let name: String
  public let description: String?
  /// The IANA time zone in which the group's day begins.
  public let timeZone: String?
  public let inviteCode: String?
  public let createdAt: Date
  public let role: String?
  public let memberCount: Int
  public let members: [Member]
  public let hasSentToday: Bool
  public let lastPhoto: LastPhoto?
}
