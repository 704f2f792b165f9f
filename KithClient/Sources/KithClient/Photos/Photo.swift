import Foundation

/// A photo that a member of a group has sent. It is there for 48 hours.
public struct Photo: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  public let groupID: String
  public let senderID: String
  public let senderName: String
  /// At most 1080 pixels on the longer side. The link ends after an hour at most: ``Photos/data(of:thumbnail:)`` renews
  /// it.
  public let url: URL
  /// At most 320 pixels.
  public let thumbnailURL: URL?
  public let createdAt: Date
  /// 48 hours after it was sent.
  public let expiresAt: Date
}

/// A photo that was sent.
public struct SentPhoto: Sendable, Equatable, Codable {
  public let photoID: Photo.ID
  public let expiresAt: Date
}
