import Database
import Foundation
import Wire

/// A list with what stands beside it in an answer.
struct ListView: Sendable {
  let list: List
  var members: [Membership]
  var overdueCount: Int

  /// Everybody who is named.
  var people: Set<UserID> { Set(members.map(\.user)).union([list.owner]) }

  static func one(_ list: List, at now: Date, on db: any Connection) throws -> ListView {
    ListView(
      list: list, members: try MembershipStore.members(of: list.id, on: db),
      overdueCount: try ListStore.overdueCount(list.id, at: now, on: db))
  }

  /// All lists of somebody, in three queries however many they are.
  static func all(of user: UserID, at now: Date, on db: any Connection) throws -> [ListView] {
    let members = Dictionary(grouping: try MembershipStore.members(ofAllListsOf: user, on: db), by: \.list)
    let overdue = try ListStore.overdueCounts(of: user, at: now, on: db)
    return try ListStore.lists(of: user, on: db).map { list in
      ListView(list: list, members: members[list.id] ?? [], overdueCount: overdue[list.id] ?? 0)
    }
  }
}

/// A list as the apps see it.
struct ListBody: Encodable {
  let id: Int
  let name: String
  @OrNull var description: String?
  let visibility: String
  let color: String
  let owner: Owner
  let user: PersonBody
  let role: Role
  let members: [MembershipBody]
  let members_count: Int
  let tasks_count: Int
  let completed_tasks_count: Int
  let overdue_tasks_count: Int
  let version: Int
  let created_at: Date
  let updated_at: Date
  /// Only where one list is shown.
  var tasks: [TaskBody]?

  struct Owner: Encodable {
    let id: Int
    let email: String
    @OrNull var name: String?
    let role = Role.owner

    init(_ person: PersonBody) {
      id = person.id
      email = person.email
      _name = OrNull(wrappedValue: person.name)
    }
  }

  init(_ view: ListView, _ people: [UserID: Person], tasks: [TaskBody]? = nil) {
    let (list, owner) = (view.list, people[view.list.owner].map(PersonBody.init) ?? .gone)
    id = list.id
    name = list.name
    _description = OrNull(wrappedValue: list.description)
    visibility = list.visibility
    color = list.color
    self.owner = Owner(owner)
    user = owner
    role = list.role
    members = view.members.compactMap { MembershipBody($0, people) }
    members_count = list.memberCount
    tasks_count = list.taskCount
    completed_tasks_count = list.completedCount
    overdue_tasks_count = view.overdueCount
    version = list.version
    created_at = list.createdAt
    updated_at = list.updatedAt
    self.tasks = tasks
  }
}

/// What is not there any more.
struct Tombstone: Encodable, Hashable, Sendable {
  let id: Int
  let deleted_at: Date
}
