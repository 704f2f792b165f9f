import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The routes for sub-tasks, which are tasks themselves, one level deep.
struct SubtaskRoutes: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let idempotentChange: IdempotentChange
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.forUsers()
    for task in TaskRoutes.paths {
      let (all, one) = (RouterPath("\(task)/subtasks"), "\(task)/subtasks/{subtask}")
      userRoutes.offEventLoop().get(all, use: index)
      userRoutes.post(all, use: create)
      userRoutes.get(RouterPath(one), use: show)
      userRoutes.patch(RouterPath(one), use: change)
      userRoutes.put(RouterPath(one), use: change)
      userRoutes.delete(RouterPath(one), use: delete)
      for method in [HTTPRequest.Method.post, .patch] {
        userRoutes.on(RouterPath("\(one)/complete"), method: method, use: complete)
        userRoutes.on(RouterPath("\(one)/reopen"), method: method, use: reopen)
      }
    }
  }

  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (reference, user, now) = (try context.taskReference(), context.user, now())
    let details = try await database.read { db in try TaskDetails.one(reference, for: user, on: db) }
    let body = SubtasksAnswer(subtasks: details.subtasks.map { .init($0, at: now) })
    return try Reply.exactJSON(body).response(to: request)
  }

  /// The status is 200 instead of 201 when a sub-task with this `client_id` exists.
  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (reference, user, now) = (try context.taskReference(), context.user, now())
    var fields = try await request.fields("subtask")
    if !fields.has("title") { fields.addError("title", "cannot be blank") }
    let change = TaskChange(&fields)
    try fields.validate()
    let actingUser = try await peopleCache.actingUser(user)
    return try await idempotentChange.response(to: request, context) { db, _ in
      let parent = try TaskDetails.task(reference, for: user, on: db)
      guard parent.parent == nil else { throw Failure.oneLevelOnly }
      switch try TaskStore.create(change, in: parent.list, below: parent.id, by: actingUser, at: now, on: db) {
      case .created(let id): return try Self.reply(.init(id: id), user, at: now, status: .created, on: db)
      case .existing(let id): return try Self.reply(.init(id: id), user, at: now, on: db)
      }
    }
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (reference, user, now) = (try context.subtaskReference(), context.user, now())
    let task = try await database.read { db in try TaskDetails.task(reference, for: user, on: db) }
    let body = SubtaskAnswer(subtask: .init(task, at: now))
    return try Reply.exactJSON(body).response(to: request, version: task.revision)
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    var fields = try await request.fields("subtask")
    let change = TaskChange(&fields)
    try fields.validate()
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
    let (reference, user, now, ifMatch) = (try context.subtaskReference(), context.user, now(), IfMatch(request))
    let actingUser = try await peopleCache.actingUser(user)
    return try await idempotentChange.response(to: request, context) { db, _ in
      try TaskStore.change(reference, by: actingUser, ifMatch: ifMatch, at: now, on: db) { task in
        task.deleted(by: user, reason: nil, at: now)
      }
      return .noContent
    }
  }

  private func act(
    _ request: Request, _ context: SignedIn, tags: [Int]? = nil,
    _ rule: @escaping @Sendable (ListTask, Date, ActingUser) throws -> TaskUpdate
  ) async throws -> Response {
    let (reference, now, ifMatch) = (try context.subtaskReference(), now(), IfMatch(request))
    let actingUser = try await peopleCache.actingUser(context.user)
    return try await idempotentChange.response(to: request, context) { db, _ in
      try TaskStore.change(reference, by: actingUser, ifMatch: ifMatch, tags: tags, at: now, on: db) {
        try rule($0, now, actingUser)
      }
      return try Self.reply(reference, actingUser.user, at: now, on: db)
    }
  }

  private static func reply(
    _ reference: TaskReference, _ user: UserID, at now: Date, status: HTTPResponse.Status = .ok, on db: any Connection
  ) throws -> Reply {
    let task = try TaskDetails.task(reference, for: user, on: db)
    return try .exactJSON(SubtaskAnswer(subtask: .init(task, at: now)), status: status)
  }
}

extension SignedIn {
  /// The sub-task in the path.
  fileprivate func subtaskReference() throws(Failure) -> TaskReference {
    let parent = try taskReference()
    return TaskReference(id: try id("subtask"), list: parent.list, parent: parent.id)
  }
}

extension Failure {
  static let oneLevelOnly = Failure.invalid(.init("parent_task_id", "is a sub-task, which has none of its own"))
}
