import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The parts of a task: tasks themselves, one level deep.
struct SubtaskRoutes: Sendable {
  let database: any Database
  let acquaintances: Acquaintances
  let once: Once
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.forUsers()
    for task in TaskRoutes.paths {
      let (all, one) = (RouterPath("\(task)/subtasks"), "\(task)/subtasks/{subtask}")
      mine.get(all, use: index)
      mine.post(all, use: create)
      mine.get(RouterPath(one), use: show)
      mine.patch(RouterPath(one), use: change)
      mine.put(RouterPath(one), use: change)
      mine.delete(RouterPath(one), use: delete)
      for method in [HTTPRequest.Method.post, .patch] {
        mine.on(RouterPath("\(one)/complete"), method: method, use: complete)
        mine.on(RouterPath("\(one)/reopen"), method: method, use: reopen)
      }
    }
  }

  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (place, user, now) = (try context.place(), context.user, now())
    let view = try await database.read { db in try TaskView.one(place, for: user, on: db) }
    return try Reply.exactJSON(["subtasks": view.subtasks.map { SubtaskBody($0, at: now) }]).response(to: request)
  }

  /// 200 instead of 201 for a `client_id` that is there already.
  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (place, user, now) = (try context.place(), context.user, now())
    var fields = try await request.fields("subtask")
    if !fields.has("title") { fields.refuse("title", "cannot be blank") }
    let change = TaskChange(&fields)
    try fields.finish()
    let doer = try await acquaintances.doer(user)
    return try await once.answer(request, context) { db, _ in
      let parent = try TaskView.task(place, for: user, on: db)
      guard parent.parent == nil else { throw Failure.oneLevelOnly }
      switch try TaskStore.create(change, in: parent.list, below: parent.id, by: doer, at: now, on: db) {
      case .new(let id): return try Self.reply(.init(id: id), user, at: now, status: .created, on: db)
      case .known(let id): return try Self.reply(.init(id: id), user, at: now, on: db)
      }
    }
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (place, user, now) = (try context.subtask(), context.user, now())
    let task = try await database.read { db in try TaskView.task(place, for: user, on: db) }
    return try Reply.exactJSON(["subtask": SubtaskBody(task, at: now)]).response(to: request, version: task.revision)
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    var fields = try await request.fields("subtask")
    let change = TaskChange(&fields)
    try fields.finish()
    return try await act(request, context, tags: change.tags) { try change.applied(to: $0, by: $2, at: $1) }
  }

  @Sendable private func complete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    return try await act(request, context) { task, now, _ in try task.completed(by: user, at: now) }
  }

  @Sendable private func reopen(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    return try await act(request, context) { task, now, _ in task.reopened(by: user, at: now) }
  }

  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (place, user, now, expected) = (try context.subtask(), context.user, now(), Expectation(request))
    let doer = try await acquaintances.doer(user)
    return try await once.answer(request, context) { db, _ in
      try TaskStore.change(place, by: doer, expecting: expected, at: now, on: db) { task in
        task.deleted(by: user, reason: nil, at: now)
      }
      return .nothing
    }
  }

  private func act(
    _ request: Request, _ context: SignedIn, tags: [Int]? = nil,
    _ rule: @escaping @Sendable (ListTask, Date, Doer) throws -> TaskStep
  ) async throws -> Response {
    let (place, now, expected) = (try context.subtask(), now(), Expectation(request))
    let doer = try await acquaintances.doer(context.user)
    return try await once.answer(request, context) { db, _ in
      try TaskStore.change(place, by: doer, expecting: expected, tags: tags, at: now, on: db) {
        try rule($0, now, doer)
      }
      return try Self.reply(place, doer.user, at: now, on: db)
    }
  }

  private static func reply(
    _ place: TaskPlace, _ user: UserID, at now: Date, status: HTTPResponse.Status = .ok, on db: any Connection
  ) throws -> Reply {
    let task = try TaskView.task(place, for: user, on: db)
    return try .exactJSON(["subtask": SubtaskBody(task, at: now)], status: status)
  }
}

extension SignedIn {
  /// The sub-task that the path names.
  fileprivate func subtask() throws(Failure) -> TaskPlace {
    let parent = try place()
    return TaskPlace(id: try id("subtask"), list: parent.list, parent: parent.id)
  }
}

extension Failure {
  static let oneLevelOnly = Failure.invalid(.init("parent_task_id", "is a sub-task, which has none of its own"))
}
