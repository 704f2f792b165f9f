import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// What can be done with a task, by POST and by PATCH.
struct TaskActionRoutes: Sendable {
  let database: any Database
  let acquaintances: Acquaintances
  let naming: Naming
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
    let assignee = try await assignee(PersonName(identifier ?? ""), of: try context.place(), by: user)
    return try await act(request, context, "Task assigned") { task, now, db in
      guard let assignee, try MembershipStore.role(of: assignee, in: task.list, on: db) != nil else {
        throw Failure.invalid(.init("assigned_to", "is not in this list"))
      }
      return task.assigned(to: assignee, by: user, at: now)
    }
  }

  /// Looked for only among those who are in the list, and not across a block. Naming oneself takes no proof.
  ///
  /// - Throws: 404 and 403 for who may not change the task, 403 for who has proven nothing, 429 when the day's names are
  ///   used up.
  private func assignee(_ name: PersonName, of place: TaskPlace, by user: UserID) async throws -> UserID? {
    let everybody = try await database.read { db in
      let task = try TaskView.task(place, for: user, on: db)
      try task.role.requireEditor()
      return try MembershipStore.everybody(in: task.list, on: db)
    }
    let people = try await acquaintances.people(everybody.union([user]), showing: [user])
    if let me = people[user], name.isName(of: me) { return user }
    if people[user]?.isProven != true { try await naming.users.requireProven(user) }
    // Whoever could try addresses without end would find those that members do not show.
    if case .email = name { try await database.write { try NamedPeople.take(by: user, at: now(), on: $0) } }
    let found: UserID? =
      if case .email(let address) = name {
        try await naming.users.person(named: address)?.id
      } else {
        people.values.first(where: name.isName)?.id
      }
    let assignee = found.flatMap { everybody.contains($0) ? $0 : nil }
    // Nobody is asked about like somebody.
    return try await naming.isBlocked(user, from: assignee ?? .new(at: now())) ? nil : assignee
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
      let body = TaskBody(view, try acquaintances.known(view.people, showing: [doer.user]), at: now)
      return try .exactJSON(DoneBody(task: body, message: message))
    }
  }
}

private struct DoneBody: Encodable {
  let task: TaskBody
  let message: String
}
