import ClientBodies
import Database
import Foundation
import Wire

extension SharedList {
  /// - Parameters:
  ///   - tags: those that were read separately; nil for those of `details`.
  ///   - tasks: in the response for a single list.
  init(
    _ details: ListDetails, _ people: [UserID: Wire.Person], tags: [Tag]? = nil, tasks: [ClientBodies.ListTask]? = nil
  ) {
    let (list, owner) = (details.list, people[details.list.owner].map(Person.init) ?? .deletedAccount)
    self.init(
      id: list.id, name: list.name, description: list.description, visibility: list.visibility, color: list.color,
      listType: list.type, tags: (tags ?? details.tags).map(ClientBodies.ListTask.Tag.init),
      owner: Person(id: owner.id, name: owner.name, email: owner.email, role: ListRole.owner.rawValue), user: owner,
      role: list.role.rawValue, members: details.members.compactMap { Person($0, people) },
      membersCount: list.memberCount, tasksCount: list.taskCount, parentTasksCount: list.taskCount,
      completedTasksCount: list.completedCount, overdueTasksCount: details.overdueCount, version: list.version,
      createdAt: list.createdAt, updatedAt: list.updatedAt, tasks: tasks)
  }
}
