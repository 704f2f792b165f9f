import Foundation

/// A collection that its owner shares by link.
public struct SharedCollection: Sendable, Equatable, Codable, Identifiable {
  /// What somebody may do in a collection.
  public enum Role: String, Sendable, Codable {
    case owner = "OWNER"
    case editor = "EDITOR"
    case viewOnly = "VIEW_ONLY"
  }

  /// Somebody who is in a collection.
  public struct Member: Sendable, Equatable, Codable, Identifiable {
    /// Who the member is.
    public struct User: Sendable, Equatable, Codable, Identifiable {
      public let id: String
      @NullCodable public private(set) var email: String?
      @NullCodable public private(set) var name: String?
      @NullCodable public private(set) var displayName: String?
      /// `COMPLETE`, or `INCOMPLETE` without a name.
      public let profileStatus: String?
      /// A language tag.
      public let locale: String?

      public init(
        id: String, email: String?, name: String?, displayName: String?, profileStatus: String?, locale: String?
      ) {
        self.id = id
        self.email = email
        self.name = name
        self.displayName = displayName
        self.profileStatus = profileStatus
        self.locale = locale
      }
    }

    public let id: String
    public let collectionID: SharedCollection.ID?
    public let userID: String
    public let role: Role
    public let user: User
    public let createdAt: Date?
    public let updatedAt: Date?

    private enum CodingKeys: String, CodingKey {
      case id, role, user, createdAt, updatedAt
      case collectionID = "collectionId"
      case userID = "userId"
    }

    public init(
      id: String, collectionID: SharedCollection.ID?, userID: String, role: Role, user: User, createdAt: Date?,
      updatedAt: Date?
    ) {
      self.id = id
      self.collectionID = collectionID
      self.userID = userID
      self.role = role
      self.user = user
      self.createdAt = createdAt
      self.updatedAt = updatedAt
    }
  }

  public let id: String
  public let userID: String
  public let name: String
  public let createdAt: Date
  public let updatedAt: Date

  private enum CodingKeys: String, CodingKey {
    case id, name, createdAt, updatedAt
    case userID = "userId"
  }

  public init(id: String, userID: String, name: String, createdAt: Date, updatedAt: Date) {
    self.id = id
    self.userID = userID
    self.name = name
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}
