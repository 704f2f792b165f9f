import Foundation

/// A plan for a day out.
public struct AdventurePlan: Sendable, Equatable, Codable, Identifiable {
  /// Where a plan leads.
  public struct Stop: Sendable, Equatable, Codable {
    public let name: String?
    public let address: String?
    public let latitude: Double?
    public let longitude: Double?

    /// - Parameter coordinate: nil where the place is not known.
    public init(name: String, address: String? = nil, at coordinate: Coordinate? = nil) {
      self.name = name
      self.address = address
      latitude = coordinate?.latitude
      longitude = coordinate?.longitude
    }
  }

  public let id: String
  public let userID: String
  public let title: String
  public let description: String?
  public let stops: [Stop]?
  public let status: AdventureStatus
  public let createdAt: Date
  public let updatedAt: Date

  private enum CodingKeys: String, CodingKey {
    case id, title, description, stops, status
    case userID = "user_id"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
  }

  public init(
    id: String, userID: String, title: String, description: String?, stops: [Stop]?, status: AdventureStatus,
    createdAt: Date, updatedAt: Date
  ) {
    self.id = id
    self.userID = userID
    self.title = title
    self.description = description
    self.stops = stops
    self.status = status
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}
