import Foundation

/// A place that the user has saved.
public struct SavedPlace: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  public let userID: String
  public let name: String
  public let address: String?
  public let latitude: Double?
  public let longitude: Double?
  public let category: String?
  public let createdAt: Date

  private enum CodingKeys: String, CodingKey {
    case id, name, address, latitude, longitude, category
    case userID = "user_id"
    case createdAt = "created_at"
  }

  public init(
    id: String, userID: String, name: String, address: String?, latitude: Double?, longitude: Double?,
    category: String?, createdAt: Date
  ) {
    self.id = id
    self.userID = userID
    self.name = name
    self.address = address
    self.latitude = latitude
    self.longitude = longitude
    self.category = category
    self.createdAt = createdAt
  }
}
