import ClientBodies
import Wire

extension ListsAnswer: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    json.member("cursor", cursor)
    try json.member("deleted", deleted)
    json.member("has_more", hasMore)
    try json.member("lists", lists)
    json.member("page", page)
    json.member("per_page", perPage)
    json.member("tombstones", texts: tombstones)
  }
}

extension ListAnswer: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    try json.member("list", list)
  }
}

extension Tombstone: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) {
    json.member("deleted_at", deletedAt)
    json.member("id", id)
  }
}

extension SharedList: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    json.member("color", color)
    json.member("completed_tasks_count", completedTasksCount)
    json.member("created_at", createdAt)
    json.memberOrNull("description", description)
    json.member("id", id)
    json.memberOrNull("list_type", listType)
    try json.member("members", members)
    json.member("members_count", membersCount)
    json.member("name", name)
    json.member("overdue_tasks_count", overdueTasksCount)
    try json.member("owner", owner)
    json.member("parent_tasks_count", parentTasksCount)
    json.member("role", role)
    try json.member("tags", tags)
    try json.member("tasks", tasks)
    json.member("tasks_count", tasksCount)
    json.member("updated_at", updatedAt)
    try json.member("user", user)
    json.member("version", version)
    json.member("visibility", visibility)
  }
}

extension SharedList.Person: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) throws {
    json.member("created_at", createdAt)
    json.member("email", email)
    json.member("id", id)
    json.memberOrNull("name", name)
    json.member("role", role)
    json.member("updated_at", updatedAt)
    try json.member("user", user)
  }
}

extension SharedList.Person.User: JSONObjectWritable {
  public func writeMembers(to json: inout JSONWriter) {
    json.member("email", email)
    json.member("id", id)
    json.memberOrNull("name", name)
  }
}
