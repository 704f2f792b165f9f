import Foundation

/// A photo that a member of a group has sent. It is there for 48 hours.
public struct Photo: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  public let groupID: String
  public let senderID: String
  public let senderName: String
  /// At most 1080 pixels on the longer side. The link ends after an hour at most: ``Photos/data(of:thumbnail:)`` renews
  /// it.
  public var url: URL { link.url }
  /// At most 320 pixels.
  public var thumbnailURL: URL? { thumbnailLink?.url }
  public let createdAt: Date
  /// 48 hours after it was sent.
  public let expiresAt: Date
  private let link: LinkText
  private let thumbnailLink: LinkText?

  private enum CodingKeys: String, CodingKey {
    case id
    case link = "url"
    case groupID = "group_id"
    case senderID = "sender_id"
    case senderName = "sender_name"
    case thumbnailLink = "thumbnail_url"
    case createdAt = "created_at"
    case expiresAt = "expires_at"
  }

  public init(
    id: String, groupID: String, senderID: String, senderName: String, url: String, thumbnailURL: String?,
    createdAt: Date, expiresAt: Date
  ) {
    self.id = id
    self.groupID = groupID
    self.senderID = senderID
    self.senderName = senderName
    link = LinkText(url)
    thumbnailLink = thumbnailURL.map { LinkText($0) }
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }
}

/// A photo that was sent.
public struct SentPhoto: Sendable, Equatable, Codable {
  public let photoID: Photo.ID
  public let expiresAt: Date

  private enum CodingKeys: String, CodingKey {
    case photoID = "photo_id"
    case expiresAt = "expires_at"
  }

  public init(photoID: Photo.ID, expiresAt: Date) {
    self.photoID = photoID
    self.expiresAt = expiresAt
  }
}

/// The photos of a day.
package struct PhotosAnswer: Sendable, Codable {
  package let photos: [Photo]

  package init(photos: [Photo]) {
    self.photos = photos
  }
}
