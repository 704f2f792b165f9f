import Foundation

/// A collection that its owner shares by link.
public struct SharedCollection: Sendable, Equatable, Decodable, Identifiable {
  /// What somebody may do in a collection.
  public enum Role: String, Sendable, Codable {
    case owner = "OWNER"
    case editor = "EDITOR"
    case viewOnly = "VIEW_ONLY"
  }

  /// Somebody who is in a collection.
  public struct Member: Sendable, Equatable, Decodable, Identifiable {
    /// Who the member is.
    public struct User: Sendable, Equatable, Decodable, Identifiable {
      public let id: String
      public let name: String?
      public let displayName: String?
      public let email: String?
    }

    public let id: String
    public let userID: String
    public let role: Role
    public let user: User
  }

  public let id: String
  public let name: String
  public let userID: String
  public let createdAt: Date
  public let updatedAt: Date
}
