import Foundation

/// A list of tasks that several people share.
public struct SharedList: Sendable, Equatable, Codable, Identifiable {
  /// A user, as lists and tasks name them. The e-mail address is there for who has entered it only.
  public struct Person: Sendable, Equatable, Codable, Identifiable {
    public let id: Int
    public let name: String?
    public let email: String?
    public let role: String?
  }

  public let id: Int
  public let name: String
  public let description: String?
  /// A label of the app's: members decide who sees a list.
  public let visibility: String?
  public let color: String?
  public let owner: Person?
  /// The caller's: `owner`, `editor` or `viewer`.
  public let role: String?
  public let members: [Person]?
  public let membersCount: Int?
  public let tasksCount: Int?
  public let completedTasksCount: Int?
  public let overdueTasksCount: Int?
  /// For changes that must not overwrite another's.
  public let version: Int?
  public let createdAt: Date
  public let updatedAt: Date
}

/// A membership of a list.
public struct ListMembership: Sendable, Equatable, Decodable, Identifiable {
  public let id: Int
  public let user: SharedList.Person
  public let role: String
}

/// What has changed since an earlier answer.
public struct Changes<Element: Sendable & Equatable>: Sendable, Equatable {
  public let changed: [Element]
  public let deletedIDs: [Int]
  /// For the next question.
  public let cursor: String?
  /// Whether there is more: ask again with the cursor.
  public let hasMore: Bool
}
