import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The routes for tasks, with and without their list in the path.
struct TaskRoutes: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let idempotentChange: IdempotentChange
  let now: @Sendable () -> Date
  /// The paths of a task, without and with its list.
  static let paths = ["/api/v1/tasks/{task}", "/api/v1/lists/{list}/tasks/{task}"]
  private static let changesMax = 500

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.forUsers()
    userRoutes.offEventLoop().get("/api/v1/lists/{list}/tasks", use: index)
    userRoutes.post("/api/v1/lists/{list}/tasks", use: create)
    for path in Self.paths {
      userRoutes.get(RouterPath(path), use: show)
      userRoutes.patch(RouterPath(path), use: change)
      userRoutes.put(RouterPath(path), use: change)
      userRoutes.delete(RouterPath(path), use: delete)
    }
  }

  /// All tasks of a list or a page of them; with `since` the changes, at most ``changesMax`` at a time.
  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("list"), context.user, now())
    let since = try request.uri.queryParameters["since"].map { try TasksCursor(String($0), of: id) }
    let page = try request.page()
    let selected = try await database.read { db in
      let list = try ListStore.list(id, for: user, on: db)
      guard let since else { return try SelectedTasks(of: list, page, on: db) }
      // The database was restored from an older backup.
      guard since.revision <= list.revision else { throw Failure.invalidCursor }
      return try SelectedTasks(of: list, since: since, limit: Self.changesMax, on: db)
    }
    let tasksResponse = ListTasksResponse(
      database: database, peopleCache: peopleCache, list: selected.list, user: user, now: now)
    return try await tasksResponse.response(to: request, selected.selection) { tasks in
      TasksAnswer(
        tasks: tasks, deleted: selected.deleted, cursor: selected.cursor.text, hasMore: selected.hasMore,
        page: since == nil ? page : nil)
    }
  }

  /// The status is 200 instead of 201 when a task with this `client_id` exists.
  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (list, user, now) = (try context.id("list"), context.user, now())
    var fields = try await request.fields("task")
    if !fields.has("title") { fields.addError("title", "cannot be blank") }
    let change = TaskChange(&fields)
    try fields.validate()
    let actingUser = try await actingUser(user, for: change)
    return try await idempotentChange.response(to: request, context) { db, peopleCache in
      let parent = try change.newParent.map { try TaskDetails.newParent($0, in: list, for: user, on: db) }
      switch try TaskStore.create(change, in: list, below: parent, by: actingUser, at: now, on: db) {
      case .created(let id): return try Self.reply(.init(id: id), user, peopleCache, at: now, status: .created, on: db)
      case .existing(let id): return try Self.reply(.init(id: id), user, peopleCache, at: now, on: db)
      }
    }
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (reference, user, now) = (try context.taskReference(), context.user, now())
    let (details, events) = try await database.read { db in
      let details = try TaskDetails.one(reference, for: user, on: db)
      return (details, try TaskEventStore.events(of: details.task.id, on: db))
    }
    let people = try await peopleCache.people(
      details.people.union(events.compactMap(\.event.user)), withAddressesOf: [user])
    let task = ClientBodies.ListTask(details, people, events: events.map { .init($0.id, $0.event, people) }, at: now)
    return try Reply.exactJSON(TaskAnswer(task: task)).response(to: request, version: details.task.revision)
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (reference, user, now, ifMatch) = (try context.taskReference(), context.user, now(), IfMatch(request))
    var fields = try await request.fields("task")
    let change = TaskChange(&fields)
    try fields.validate()
    let actingUser = try await actingUser(user, for: change)
    return try await idempotentChange.response(to: request, context) { db, peopleCache in
      try TaskStore.change(reference, by: actingUser, ifMatch: ifMatch, tags: change.tags, at: now, on: db) { task in
        try change.applied(to: task, by: actingUser, at: now)
      }
      return try Self.reply(reference, user, peopleCache, at: now, on: db)
    }
  }

  /// The reason is read from the body or the query, because not every client sends a body with DELETE.
  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (reference, user, now, ifMatch) = (try context.taskReference(), context.user, now(), IfMatch(request))
    var fields = try await request.optionalFields("task")
    let reason =
      fields.text("reason", 0...ListTask.reasonMax).value
      ?? request.uri.queryParameters["reason"]
      .map { String($0.prefix(ListTask.reasonMax)) }
    try fields.validate()
    let actingUser = try await peopleCache.actingUser(user)
    return try await idempotentChange.response(to: request, context) { db, _ in
      try TaskStore.change(reference, by: actingUser, ifMatch: ifMatch, at: now, on: db) { task in
        task.deleted(by: user, reason: reason, at: now)
      }
      return try .exactJSON(MessageBody(message: "Task deleted"))
    }
  }

  /// The caller, with their current time zone when the change depends on it.
  private func actingUser(_ user: UserID, for change: TaskChange) async throws -> ActingUser {
    try await change.changesRecurrence ? peopleCache.freshActingUser(user) : peopleCache.actingUser(user)
  }

  private static func reply(
    _ reference: TaskReference, _ user: UserID, _ peopleCache: PeopleCache, at now: Date,
    status: HTTPResponse.Status = .ok, on db: any Connection
  ) throws -> Reply {
    let details = try TaskDetails.one(reference, for: user, on: db)
    let people = try peopleCache.cached(details.people, withAddressesOf: [user])
    return try .exactJSON(TaskAnswer(task: .init(details, people, at: now)), status: status)
  }
}

extension SignedIn {
  /// The task in the path.
  func taskReference() throws(Failure) -> TaskReference {
    TaskReference(id: try id("task"), list: parameters.get("list") == nil ? nil : try id("list"))
  }
}

extension TasksAnswer {
  fileprivate init(
    tasks: [ClientBodies.ListTask], deleted: [Tombstone], cursor: String, hasMore: Bool, page: Page?
  ) {
    self.init(
      tasks: tasks, tombstones: deleted.map { String($0.id) }, deleted: deleted, cursor: cursor, hasMore: hasMore,
      page: page?.number, perPage: page?.size)
  }
}

/// The tasks of a list that a response contains, and the cursor from which the client continues.
private struct SelectedTasks: Sendable {
  let list: List
  let selection: TaskSelection
  let deleted: [Tombstone]
  let cursor: TasksCursor
  let hasMore: Bool

  init(of list: List, _ page: Page?, on db: any Connection) throws {
    self.list = list
    (selection, hasMore) = try TaskSelection.page(page, of: list, on: db)
    deleted = []
    cursor = TasksCursor(list: list.id, revision: list.revision)
  }

  init(of list: List, since: TasksCursor, limit: Int, on db: any Connection) throws {
    let changes = try TaskSelection.changes(of: list, since: since, limit: limit, on: db)
    self.list = list
    (selection, deleted, hasMore) = (changes.selection, changes.deleted, changes.last != nil)
    cursor = changes.last ?? TasksCursor(list: list.id, revision: list.revision)
  }
}
