import Foundation

/// A scene in a list.
public struct TimepointSummary: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  public let query: String
  public let slug: String
  public let status: String
  @NullCodable public private(set) var year: Int?
  @NullCodable public private(set) var location: String?
  public let hasImage: Bool?
  public let createdAt: Date?

  private enum CodingKeys: String, CodingKey {
    case id, query, slug, status, year, location
    case hasImage = "has_image"
    case createdAt = "created_at"
  }

  public init(
    id: String, query: String, slug: String, status: String, year: Int?, location: String?, hasImage: Bool?,
    createdAt: Date?
  ) {
    self.id = id
    self.query = query
    self.slug = slug
    self.status = status
    self.year = year
    self.location = location
    self.hasImage = hasImage
    self.createdAt = createdAt
  }
}

/// A page of a list.
public struct TimepointPage<Item: Sendable & Equatable & Codable>: Sendable, Equatable, Codable {
  public let items: [Item]
  /// Of all pages. The server counts up to 10,000.
  public let total: Int
  /// From 1.
  public let page: Int
  public let pageSize: Int

  private enum CodingKeys: String, CodingKey {
    case items, total, page
    case pageSize = "page_size"
  }

  public init(items: [Item], total: Int, page: Int, pageSize: Int) {
    self.items = items
    self.total = total
    self.page = page
    self.pageSize = pageSize
  }
}
