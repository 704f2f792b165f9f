import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// What can be done with a task, by POST and by PATCH.
struct TaskActionRoutes: Sendable {
  let acquaintances: Acquaintances
  let users: UsersClient
  let once: Once
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.forUsers()
    for path in TaskRoutes.paths {
      for method in [HTTPRequest.Method.post, .patch] {
        mine.on(RouterPath("\(path)/complete"), method: method, use: complete)
        mine.on(RouterPath("\(path)/reopen"), method: method, use: reopen)
        mine.on(RouterPath("\(path)/assign"), method: method, use: assign)
        mine.on(RouterPath("\(path)/unassign"), method: method, use: unassign)
        mine.on(RouterPath("\(path)/reassign"), method: method, use: reassign)
        mine.on(RouterPath("\(path)/reschedule"), method: method, use: reassign)
      }
    }
  }

  @Sendable private func complete(_ request: Request, _ context: SignedIn) async throws -> Response {
    var fields = try await request.fieldsIfAny("task")
    let reason = fields.text("reason", 0...ListTask.reasonMax).value
    let missed = fields.text("missed_reason", 0...ListTask.reasonMax).value
    try fields.finish()
    let user = context.user
    return try await act(request, context, "Task completed") { task, now, _ in
      try task.completed(by: user, reason: reason, missedReason: missed, at: now)
    }
  }

  @Sendable private func reopen(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    return try await act(request, context, "Task reopened") { task, now, _ in task.reopened(by: user, at: now) }
  }

  /// To the owner or a member of the list, by number, UUID or e-mail address.
  @Sendable private func assign(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    var fields = try await request.fieldsIfAny("task")
    let identifier = fields.identifier("assigned_to")
    try fields.finish()
    // Whether there is such a user shows only to those who share a list with them.
    let assignee: Person? = if let identifier { try await users.person(named: identifier) } else { nil }
    return try await act(request, context, "Task assigned") { task, now, db in
      guard let assignee, try MembershipStore.isIn(task.list, assignee.id, on: db) else {
        throw Failure.invalid(.init("assigned_to", "is not in this list"))
      }
      return task.assigned(to: assignee.id, by: user, at: now)
    }
  }

  @Sendable private func unassign(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    return try await act(request, context, "Task unassigned") { task, now, _ in
      task.assigned(to: nil, by: user, at: now)
    }
  }

  /// Moves the due date, which strict mode allows for a reason only.
  @Sendable private func reassign(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    var fields = try await request.fieldsIfAny("task")
    let name = fields.has("new_due_at") ? "new_due_at" : "due_at"
    fields.require(name)
    let dueAt = fields.time(name).value
    let reason = fields.text("reason", 0...ListTask.reasonMax).value
    try fields.finish()
    return try await act(request, context, "Task reassigned") { task, now, _ in
      try task.reassigned(to: dueAt ?? task.dueAt, by: user, reason: reason, at: now)
    }
  }

  private func act(
    _ request: Request, _ context: SignedIn, _ message: String,
    _ rule: @escaping @Sendable (ListTask, Date, any Connection) throws -> TaskStep
  ) async throws -> Response {
    let (place, now, expected) = (try context.place(), now(), Expectation(request))
    let doer = try await acquaintances.doer(context.user)
    return try await once.answer(request, context) { db, acquaintances in
      try TaskStore.change(place, by: doer, expecting: expected, at: now, on: db) { try rule($0, now, db) }
      let view = try TaskView.one(place, for: doer.user, on: db)
      let body = TaskBody(view, try acquaintances.known(view.people), at: now)
      return try .exactJSON(DoneBody(task: body, message: message))
    }
  }
}

private struct DoneBody: Encodable {
  let task: TaskBody
  let message: String
}
