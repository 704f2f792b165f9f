import Database
import Foundation
import Wire

/// A list with what stands beside it in an answer.
struct ListView: Sendable {
  let list: List
  var members: [Membership]
  var overdueCount: Int
  var tags: [Tag] = []

  /// Everybody who is named.
  var people: Set<UserID> { Set(members.map(\.user)).union([list.owner]) }

  static func one(_ list: List, for user: UserID, at now: Date, on db: any Connection) throws -> ListView {
    let queries = [MembershipStore.query(of: list.id), ListStore.overdueQuery(of: list.id, at: now)]
    let found = try db.rows(of: queries + (list.hasTags ? [ListTagStore.query(on: [list.id])] : []))
    return ListView(
      list: list, members: try found[0].map { try Membership($0, shownTo: user) },
      overdueCount: try found[1].first?.get("overdue_count") ?? 0, tags: try found.dropFirst(2).joined().map(Tag.init))
  }

  /// How many lists and members one answer is made of at once.
  static let (listsMax, membersMax) = (64, 512)

  /// All lists of somebody, in two queries; nil when they are too many.
  static func few(of user: UserID, at now: Date, on db: any Connection) throws -> [ListView]? {
    let found = try db.rows(of: [
      ListStore.allQuery(of: user, at: now, limit: listsMax + 1),
      MembershipStore.queryOfAllLists(of: user, limit: listsMax + 1),
    ])
    guard found[0].count <= listsMax, found[1].count <= membersMax else { return nil }
    return try views(found[0], found[1], for: user)
  }

  /// Those of some lists that somebody is in.
  static func some(_ ids: [Int], of user: UserID, at now: Date, on db: any Connection) throws -> [ListView] {
    let found = try db.rows(of: [ListStore.query(ids, for: user, at: now), MembershipStore.query(of: ids)])
    return try views(found[0], found[1], for: user)
  }

  private static func views(_ lists: [Row], _ members: [Row], for user: UserID) throws -> [ListView] {
    let members = Dictionary(grouping: try members.map { try Membership($0, shownTo: user) }, by: \.list)
    return try lists.map { row in
      let list = try List(row)
      return ListView(list: list, members: members[list.id] ?? [], overdueCount: try row.get("overdue_count"))
    }
  }
}

/// A list as the apps see it. Times are text here already: an encoder calls back for each `Date`.
struct ListBody: Encodable {
  let id: Int
  let name: String
  @OrNull var description: String?
  let visibility: String
  let color: String
  @OrNull var list_type: String?
  let tags: [TagName]
  let owner: Owner
  let user: PersonBody
  let role: Role
  let members: [MembershipBody]
  let members_count: Int
  let tasks_count: Int
  /// The same: sub-tasks are not counted among a list's tasks.
  let parent_tasks_count: Int
  let completed_tasks_count: Int
  let overdue_tasks_count: Int
  let version: Int
  let created_at: String
  let updated_at: String
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

  /// - Parameter tags: where they were asked for apart from the list.
  init(_ view: ListView, _ people: [UserID: Person], tags: [Tag]? = nil, tasks: [TaskBody]? = nil) {
    let (list, owner) = (view.list, people[view.list.owner].map(PersonBody.init) ?? .gone)
    id = list.id
    name = list.name
    _description = OrNull(wrappedValue: list.description)
    visibility = list.visibility
    color = list.color
    _list_type = OrNull(wrappedValue: list.type)
    self.tags = (tags ?? view.tags).map(TagName.init)
    self.owner = Owner(owner)
    user = owner
    role = list.role
    members = view.members.compactMap { MembershipBody($0, people) }
    members_count = list.memberCount
    tasks_count = list.taskCount
    parent_tasks_count = list.taskCount
    completed_tasks_count = list.completedCount
    overdue_tasks_count = view.overdueCount
    version = list.version
    created_at = Instant.milliseconds(list.createdAt)
    updated_at = Instant.milliseconds(list.updatedAt)
    self.tasks = tasks
  }
}

/// What is not there any more.
struct Tombstone: Encodable, Hashable, Sendable {
  let id: Int
  let deleted_at: Date
}
