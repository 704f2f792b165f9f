import Foundation

/// A list of tasks that several people share.
public struct SharedList: Sendable, Equatable, Codable, Identifiable {
  /// A user, as lists and tasks name them. The e-mail address is the caller's own, or one that the caller has entered;
  /// for all others it is empty. It is nil in ``ListTask/Reschedule/rescheduledBy``, and in ``SharedList/members``,
  /// whose ``user`` has it.
  public struct Person: Sendable, Equatable, Codable, Identifiable {
    /// Who a member of a list is.
    public struct User: Sendable, Equatable, Codable, Identifiable {
      public let id: Int
      public let email: String?
      @NullCodable public private(set) var name: String?

      public init(id: Int, email: String?, name: String?) {
        self.id = id
        self.email = email
        self.name = name
      }
    }

    /// The user's number. In ``SharedList/members``, that of the membership.
    public let id: Int
    @NullCodable public private(set) var name: String?
    public let email: String?
    public let role: String?
    /// In ``SharedList/members`` only, as the next two.
    public let user: User?
    public let createdAt: Date?
    public let updatedAt: Date?

    private enum CodingKeys: String, CodingKey {
      case id, name, email, role, user
      case createdAt = "created_at"
      case updatedAt = "updated_at"
    }

    public init(
      id: Int, name: String?, email: String? = nil, role: String? = nil, user: User? = nil, createdAt: Date? = nil,
      updatedAt: Date? = nil
    ) {
      self.id = id
      self.name = name
      self.email = email
      self.role = role
      self.user = user
      self.createdAt = createdAt
      self.updatedAt = updatedAt
    }
  }

  public let id: Int
  public let name: String
  @NullCodable public private(set) var description: String?
  /// A label of the app's: members decide who sees a list.
  public let visibility: String?
  public let color: String?
  /// What kind of list it is, in the app's own words.
  @NullCodable public private(set) var listType: String?
  public let tags: [ListTask.Tag]?
  public let owner: Person?
  /// The owner once more, for apps that read this member.
  public let user: Person?
  /// The caller's: `owner`, `editor` or `viewer`.
  public let role: String?
  public let members: [Person]?
  public let membersCount: Int?
  public let tasksCount: Int?
  /// The same number: the parts of tasks are not counted.
  public let parentTasksCount: Int?
  public let completedTasksCount: Int?
  public let overdueTasksCount: Int?
  /// For changes that must not overwrite another's.
  public let version: Int?
  public let createdAt: Date
  public let updatedAt: Date
  /// Where one list is read.
  public let tasks: [ListTask]?

  private enum CodingKeys: String, CodingKey {
    case id, name, description, visibility, color, tags, owner, user, role, members, version, tasks
    case listType = "list_type"
    case membersCount = "members_count"
    case tasksCount = "tasks_count"
    case parentTasksCount = "parent_tasks_count"
    case completedTasksCount = "completed_tasks_count"
    case overdueTasksCount = "overdue_tasks_count"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
  }

  public init(
    id: Int, name: String, description: String?, visibility: String?, color: String?, listType: String?,
    tags: [ListTask.Tag]?, owner: Person?, user: Person?, role: String?, members: [Person]?, membersCount: Int?,
    tasksCount: Int?, parentTasksCount: Int?, completedTasksCount: Int?, overdueTasksCount: Int?, version: Int?,
    createdAt: Date, updatedAt: Date, tasks: [ListTask]? = nil
  ) {
    self.id = id
    self.name = name
    self.description = description
    self.visibility = visibility
    self.color = color
    self.listType = listType
    self.tags = tags
    self.owner = owner
    self.user = user
    self.role = role
    self.members = members
    self.membersCount = membersCount
    self.tasksCount = tasksCount
    self.parentTasksCount = parentTasksCount
    self.completedTasksCount = completedTasksCount
    self.overdueTasksCount = overdueTasksCount
    self.version = version
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.tasks = tasks
  }
}
