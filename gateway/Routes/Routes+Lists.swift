import StrictHTTP
import Web

/// Lists, their memberships, tasks, tags, and friends. Changes are accepted as PATCH and as PUT.
extension Route {
  static let lists: [Route] = Array([apiLists, memberships, tasks, taskActions, subtasks, tags, friends].joined())

  private static let apiLists: [Route] = [
    .init(.GET, "/api/v1/lists", to: .lists, bearer: .required),
    .init(.POST, "/api/v1/lists", to: .lists, bearer: .required),
    .init(.GET, "/api/v1/lists/{list}", to: .lists, bearer: .required),
    .init(.PATCH, "/api/v1/lists/{list}", to: .lists, bearer: .required),
    .init(.PUT, "/api/v1/lists/{list}", to: .lists, bearer: .required),
    .init(.DELETE, "/api/v1/lists/{list}", to: .lists, bearer: .required),
  ]

  private static let memberships: [Route] = [
    .init(.GET, "/api/v1/lists/{list}/memberships", to: .lists, bearer: .required),
    .init(.POST, "/api/v1/lists/{list}/memberships", to: .lists, bearer: .required),
    .init(.PATCH, "/api/v1/lists/{list}/memberships/{membership}", to: .lists, bearer: .required),
    .init(.PUT, "/api/v1/lists/{list}/memberships/{membership}", to: .lists, bearer: .required),
    .init(.DELETE, "/api/v1/lists/{list}/memberships/{membership}", to: .lists, bearer: .required),
  ]

  private static let tasks: [Route] = [
    .init(.GET, "/api/v1/today", to: .lists, bearer: .required),
    .init(.GET, "/api/v1/tasks", to: .lists, bearer: .required),
    .init(.GET, "/api/v1/tasks/search", to: .lists, bearer: .required, limit: .search),
    .init(.GET, "/api/v1/tasks/{task}", to: .lists, bearer: .required),
    .init(.PATCH, "/api/v1/tasks/{task}", to: .lists, bearer: .required),
    .init(.PUT, "/api/v1/tasks/{task}", to: .lists, bearer: .required),
    .init(.DELETE, "/api/v1/tasks/{task}", to: .lists, bearer: .required),
    .init(.GET, "/api/v1/lists/{list}/tasks", to: .lists, bearer: .required),
    .init(.POST, "/api/v1/lists/{list}/tasks", to: .lists, bearer: .required),
    .init(.GET, "/api/v1/lists/{list}/tasks/{task}", to: .lists, bearer: .required),
    .init(.PATCH, "/api/v1/lists/{list}/tasks/{task}", to: .lists, bearer: .required),
    .init(.PUT, "/api/v1/lists/{list}/tasks/{task}", to: .lists, bearer: .required),
    .init(.DELETE, "/api/v1/lists/{list}/tasks/{task}", to: .lists, bearer: .required),
  ]

  /// The two paths of a task: by itself, and below its list.
  private static let taskPaths = ["/api/v1/tasks/{task}", "/api/v1/lists/{list}/tasks/{task}"]

  private static let taskActions: [Route] = {
    // The body names all tasks of a list in their new order.
    var routes = ["/api/v1/tasks/reorder", "/api/v1/lists/{list}/tasks/reorder"].flatMap {
      actions($0, bodyBytesMax: 512 * 1024)
    }
    for task in taskPaths { routes.append(.init(.POST, "\(task)/nudge", to: .lists, bearer: .required)) }
    for action in ["complete", "reopen", "assign", "unassign", "reassign", "reschedule", "reorder"] {
      for task in taskPaths { routes += actions("\(task)/\(action)") }
    }
    return routes
  }()

  private static func actions(_ path: String, bodyBytesMax: Int = 64 * 1024) -> [Route] {
    let methods: [RequestHead.Method] = [.POST, .PATCH]
    return methods.map { Route($0, path, to: .lists, bearer: .required, bodyBytesMax: bodyBytesMax) }
  }

  private static let subtasks: [Route] = taskPaths.flatMap { task in
    let one = "\(task)/subtasks/{subtask}"
    return crud(all: "\(task)/subtasks", one: one) + actions("\(one)/complete") + actions("\(one)/reopen")
  }

  private static let friends: [Route] = [
    .init(.GET, "/api/v1/friends", to: .lists, bearer: .required),
    .init(.DELETE, "/api/v1/friends/{friend}", to: .lists, bearer: .required),
  ]

  private static let tags: [Route] = crud(all: "/api/v1/tags", one: "/api/v1/tags/{tag}")

  private static func crud(all: String, one: String) -> [Route] {
    [
      .init(.GET, all, to: .lists, bearer: .required),
      .init(.POST, all, to: .lists, bearer: .required),
      .init(.GET, one, to: .lists, bearer: .required),
      .init(.PATCH, one, to: .lists, bearer: .required),
      .init(.PUT, one, to: .lists, bearer: .required),
      .init(.DELETE, one, to: .lists, bearer: .required),
    ]
  }
}
