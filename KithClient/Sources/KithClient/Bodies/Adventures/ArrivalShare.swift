import Foundation

/// When somebody will arrive, for those whom they told.
public struct ArrivalShare: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  public let userID: String
  public let routeData: JSONValue
  /// The ids of users.
  public let recipients: [String]
  public let isActive: Bool
  public let expiresAt: Date

  private enum CodingKeys: String, CodingKey {
    case id, recipients
    case userID = "user_id"
    case routeData = "route_data"
    case isActive = "is_active"
    case expiresAt = "expires_at"
  }

  public init(id: String, userID: String, routeData: JSONValue, recipients: [String], isActive: Bool, expiresAt: Date) {
    self.id = id
    self.userID = userID
    self.routeData = routeData
    self.recipients = recipients
    self.isActive = isActive
    self.expiresAt = expiresAt
  }
}
