import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Tasks, by themselves and on their list.
struct TaskRoutes: Sendable {
  let database: any Database
  let acquaintances: Acquaintances
  let once: Once
  let now: @Sendable () -> Date
  /// A task by itself, and as one of a list.
  static let paths = ["/api/v1/tasks/{task}", "/api/v1/lists/{list}/tasks/{task}"]
  private static let changesMax = 500

  func add(to routes: Router<Context>) {
    let mine = routes.forUsers()
    mine.get("/api/v1/lists/{list}/tasks", use: index)
    mine.post("/api/v1/lists/{list}/tasks", use: create)
    for path in Self.paths {
      mine.get(RouterPath(path), use: show)
      mine.patch(RouterPath(path), use: change)
      mine.put(RouterPath(path), use: change)
      mine.delete(RouterPath(path), use: delete)
    }
  }

  /// All of a list or a page of it, or with `since` what has changed, a piece at a time.
  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("list"), context.user, now())
    let since = try request.uri.queryParameters["since"].map { try TasksCursor(String($0), of: id) }
    let page = try request.page()
    let found = try await database.read { db in
      let list = try ListStore.list(id, for: user, on: db)
      guard let since else { return try FoundTasks(of: list, page, on: db) }
      // Of another world: this list has been put back to an older copy.
      guard since.revision <= list.revision else { throw Failure.invalidCursor }
      return try FoundTasks(of: list, since: since, limit: Self.changesMax, on: db)
    }
    let answer = TasksAnswer(
      database: database, acquaintances: acquaintances, list: found.list, user: user, now: now)
    return try await answer.response(to: request, found.plan) { tasks in
      TasksBody(
        tasks: tasks, deleted: found.deleted, cursor: found.cursor.text, has_more: found.hasMore,
        page: since == nil ? page : nil)
    }
  }

  /// 200 instead of 201 for a `client_id` that is there already.
  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (list, user, now) = (try context.id("list"), context.user, now())
    var fields = try await request.fields("task")
    if !fields.has("title") { fields.refuse("title", "cannot be blank") }
    let change = TaskChange(&fields)
    try fields.finish()
    let doer = try await change.isOfSeries ? acquaintances.doerNow(user) : acquaintances.doer(user)
    return try await once.answer(request, context) { db, acquaintances in
      let parent = try change.newParent.map { try TaskView.newParent($0, in: list, for: user, on: db) }
      switch try TaskStore.create(change, in: list, below: parent, by: doer, at: now, on: db) {
      case .new(let id): return try Self.reply(.init(id: id), user, acquaintances, at: now, status: .created, on: db)
      case .known(let id): return try Self.reply(.init(id: id), user, acquaintances, at: now, on: db)
      }
    }
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (place, user, now) = (try context.place(), context.user, now())
    let (view, trail) = try await database.read { db in
      let view = try TaskView.one(place, for: user, on: db)
      return (view, try TaskTrail.events(of: view.task.id, on: db))
    }
    let people = try await acquaintances.people(
      view.people.union(trail.compactMap(\.event.user)), showing: [user])
    let body = TaskBody(view, people, trail: trail.map { EventBody($0.id, $0.event, people) }, at: now)
    return try Reply.exactJSON(["task": body]).response(to: request, version: view.task.revision)
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (place, user, now, expected) = (try context.place(), context.user, now(), Expectation(request))
    var fields = try await request.fields("task")
    let change = TaskChange(&fields)
    try fields.finish()
    let doer = try await change.isOfSeries ? acquaintances.doerNow(user) : acquaintances.doer(user)
    return try await once.answer(request, context) { db, acquaintances in
      try TaskStore.change(place, by: doer, expecting: expected, tags: change.tags, at: now, on: db) { task in
        try change.applied(to: task, by: doer, at: now)
      }
      return try Self.reply(place, user, acquaintances, at: now, on: db)
    }
  }

  /// The reason comes in the body or in the query, as not every client sends a body with DELETE.
  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (place, user, now, expected) = (try context.place(), context.user, now(), Expectation(request))
    var fields = try await request.fieldsIfAny("task")
    let reason =
      fields.text("reason", 0...ListTask.reasonMax).value
      ?? request.uri.queryParameters["reason"]
      .map { String($0.prefix(ListTask.reasonMax)) }
    try fields.finish()
    let doer = try await acquaintances.doer(user)
    return try await once.answer(request, context) { db, _ in
      try TaskStore.change(place, by: doer, expecting: expected, at: now, on: db) { task in
        task.deleted(by: user, reason: reason, at: now)
      }
      return try .exactJSON(MessageBody(message: "Task deleted"))
    }
  }

  private static func reply(
    _ place: TaskPlace, _ user: UserID, _ acquaintances: Acquaintances, at now: Date,
    status: HTTPResponse.Status = .ok, on db: any Connection
  ) throws -> Reply {
    let view = try TaskView.one(place, for: user, on: db)
    return try .exactJSON(
      ["task": TaskBody(view, try acquaintances.known(view.people, showing: [user]), at: now)], status: status)
  }
}

extension SignedIn {
  /// The task that the path names.
  func place() throws(Failure) -> TaskPlace {
    TaskPlace(id: try id("task"), list: parameters.get("list") == nil ? nil : try id("list"))
  }
}

private struct TasksBody: Encodable {
  let tasks: [TaskBody]
  /// The ids of what was deleted.
  let tombstones: [String]
  let deleted: [Tombstone]
  /// To be sent back as `since`.
  let cursor: String
  let has_more: Bool
  /// Only of a page.
  let page: Int?
  let per_page: Int?

  init(tasks: [TaskBody], deleted: [Tombstone], cursor: String, has_more: Bool, page: Page?) {
    self.tasks = tasks
    self.tombstones = deleted.map { String($0.id) }
    self.deleted = deleted
    self.cursor = cursor
    self.has_more = has_more
    self.page = page?.number
    self.per_page = page?.size
  }
}

/// Which tasks of a list an answer shows, and how the client goes on from there.
private struct FoundTasks: Sendable {
  let list: List
  let plan: TaskPlan
  let deleted: [Tombstone]
  let cursor: TasksCursor
  let hasMore: Bool

  init(of list: List, _ page: Page?, on db: any Connection) throws {
    self.list = list
    (plan, hasMore) = try TaskPlan.page(page, of: list, on: db)
    deleted = []
    cursor = TasksCursor(list: list.id, revision: list.revision)
  }

  init(of list: List, since: TasksCursor, limit: Int, on db: any Connection) throws {
    let changes = try TaskPlan.changes(of: list, since: since, limit: limit, on: db)
    self.list = list
    (plan, deleted, hasMore) = (changes.plan, changes.deleted, changes.last != nil)
    cursor = changes.last ?? TasksCursor(list: list.id, revision: list.revision)
  }
}
