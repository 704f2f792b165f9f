import Foundation

/// A membership of a list.
public struct ListMembership: Sendable, Equatable, Codable, Identifiable {
  public let id: Int
  public let user: SharedList.Person
  /// The user's once more.
  @NullCodable public private(set) var name: String?
  public let role: String
  public let createdAt: Date?
  public let updatedAt: Date?

  private enum CodingKeys: String, CodingKey {
    case id, user, name, role
    case createdAt = "created_at"
    case updatedAt = "updated_at"
  }

  public init(id: Int, user: SharedList.Person, name: String?, role: String, createdAt: Date?, updatedAt: Date?) {
    self.id = id
    self.user = user
    self.name = name
    self.role = role
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}
