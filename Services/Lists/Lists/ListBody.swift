import Database
import Foundation
import Wire

/// The JSON of a list. Times are formatted already, because `JSONEncoder` calls its date closure for each `Date`.
struct ListBody: Encodable {
  let id: Int
  let name: String
  @NullCodable var description: String?
  let visibility: String
  let color: String
  @NullCodable var list_type: String?
  let tags: [TagSummaryBody]
  let owner: Owner
  let user: PersonBody
  let role: ListRole
  let members: [MembershipBody]
  let members_count: Int
  let tasks_count: Int
  /// The same number: sub-tasks are not counted among a list's tasks.
  let parent_tasks_count: Int
  let completed_tasks_count: Int
  let overdue_tasks_count: Int
  let version: Int
  let created_at: String
  let updated_at: String
  /// Only in the response for a single list.
  var tasks: [TaskBody]?

  struct Owner: Encodable {
    let id: Int
    let email: String
    @NullCodable var name: String?
    let role = ListRole.owner

    init(_ person: PersonBody) {
      id = person.id
      email = person.email
      _name = NullCodable(wrappedValue: person.name)
    }
  }

  /// - Parameter tags: those that were read separately; nil for those of `details`.
  init(_ details: ListDetails, _ people: [UserID: Person], tags: [Tag]? = nil, tasks: [TaskBody]? = nil) {
    let (list, owner) = (details.list, people[details.list.owner].map(PersonBody.init) ?? .deletedAccount)
    id = list.id
    name = list.name
    _description = NullCodable(wrappedValue: list.description)
    visibility = list.visibility
    color = list.color
    _list_type = NullCodable(wrappedValue: list.type)
    self.tags = (tags ?? details.tags).map(TagSummaryBody.init)
    self.owner = Owner(owner)
    user = owner
    role = list.role
    members = details.members.compactMap { MembershipBody($0, people) }
    members_count = list.memberCount
    tasks_count = list.taskCount
    parent_tasks_count = list.taskCount
    completed_tasks_count = list.completedCount
    overdue_tasks_count = details.overdueCount
    version = list.version
    created_at = RFC3339.milliseconds(list.createdAt)
    updated_at = RFC3339.milliseconds(list.updatedAt)
    self.tasks = tasks
  }
}

/// A list or task that was deleted, or that the caller can no longer see.
struct Tombstone: Encodable, Hashable, Sendable {
  let id: Int
  let deleted_at: Date
}
