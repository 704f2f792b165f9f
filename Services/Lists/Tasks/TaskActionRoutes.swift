import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The routes for actions on a task, each by POST and by PATCH.
struct TaskActionRoutes: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let contactVisibility: ContactVisibility
  let idempotentChange: IdempotentChange
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.forUsers()
    for path in TaskRoutes.paths {
      for method in [HTTPRequest.Method.post, .patch] {
        userRoutes.on(RouterPath("\(path)/complete"), method: method, use: complete)
        userRoutes.on(RouterPath("\(path)/reopen"), method: method, use: reopen)
        userRoutes.on(RouterPath("\(path)/assign"), method: method, use: assign)
        userRoutes.on(RouterPath("\(path)/unassign"), method: method, use: unassign)
        userRoutes.on(RouterPath("\(path)/reassign"), method: method, use: reassign)
        userRoutes.on(RouterPath("\(path)/reschedule"), method: method, use: reassign)
      }
    }
  }

  @Sendable private func complete(_ request: Request, _ context: SignedIn) async throws -> Response {
    var fields = try await request.optionalFields("task")
    let reason = fields.text("reason", 0...ListTask.reasonMax).value
    let missed = fields.text("missed_reason", 0...ListTask.reasonMax).value
    try fields.validate()
    let user = context.user
    return try await act(request, context, "Task completed") { task, now, _ in
      try task.completed(by: user, reason: reason, missedReason: missed, at: now)
    }
  }

  @Sendable private func reopen(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    return try await act(request, context, "Task reopened") { task, now, _ in task.reopened(by: user, at: now) }
  }

  /// Assigns the task to the owner or a member of the list, by number, UUID or e-mail address.
  @Sendable private func assign(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    var fields = try await request.optionalFields("task")
    let identifier = fields.identifier("assigned_to")
    try fields.validate()
    let assignee = try await assignee(PersonIdentifier(identifier ?? ""), of: try context.taskReference(), by: user)
    return try await act(request, context, "Task assigned") { task, now, db in
      guard let assignee, try MembershipStore.role(of: assignee, in: task.list, on: db) != nil else {
        throw Failure.invalid(.init("assigned_to", "is not in this list"))
      }
      return task.assigned(to: assignee, by: user, at: now)
    }
  }

  /// The user in the list with this identifier; nil when there is none, or a block hides them. Assigning oneself
  /// requires no verified credential.
  ///
  /// - Throws: 404 and 403 for users who may not change the task, 403 for callers without a verified credential, 429
  ///   when the day's lookup quota is used up.
  private func assignee(
    _ identifier: PersonIdentifier, of reference: TaskReference, by user: UserID
  ) async throws -> UserID? {
    let members = try await database.read { db in
      let task = try TaskDetails.task(reference, for: user, on: db)
      try task.role.requireEditor()
      return try MembershipStore.users(in: task.list, on: db)
    }
    let people = try await peopleCache.people(members.union([user]), withAddressesOf: [user])
    if let me = people[user], identifier.identifies(me) { return user }
    if people[user]?.isProven != true { try await contactVisibility.users.requireProven(user) }
    // Without the quota a client could guess the e-mail addresses that members do not show.
    if case .email = identifier {
      try await database.write { try PersonLookupQuota.spend(by: user, at: now(), on: $0) }
    }
    let found: UserID? =
      if case .email(let address) = identifier {
        try await contactVisibility.users.person(named: address)?.id
      } else {
        people.values.first(where: identifier.identifies)?.id
      }
    let assignee = found.flatMap { members.contains($0) ? $0 : nil }
    // For a missing user the same call is made, so that its timing does not reveal that there is none.
    return try await contactVisibility.isBlocked(user, from: assignee ?? .new(at: now())) ? nil : assignee
  }

  @Sendable private func unassign(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    return try await act(request, context, "Task unassigned") { task, now, _ in
      task.assigned(to: nil, by: user, at: now)
    }
  }

  /// Changes the due date, which requires a reason in strict mode.
  @Sendable private func reassign(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    var fields = try await request.optionalFields("task")
    let name = fields.has("new_due_at") ? "new_due_at" : "due_at"
    fields.require(name)
    let dueAt = fields.time(name).value
    let reason = fields.text("reason", 0...ListTask.reasonMax).value
    try fields.validate()
    return try await act(request, context, "Task reassigned") { task, now, _ in
      try task.reassigned(to: dueAt ?? task.dueAt, by: user, reason: reason, at: now)
    }
  }

  private func act(
    _ request: Request, _ context: SignedIn, _ message: String,
    _ rule: @escaping @Sendable (ListTask, Date, any Connection) throws -> TaskUpdate
  ) async throws -> Response {
    let (reference, now, ifMatch) = (try context.taskReference(), now(), IfMatch(request))
    let actingUser = try await peopleCache.actingUser(context.user)
    return try await idempotentChange.response(to: request, context) { db, peopleCache in
      try TaskStore.change(reference, by: actingUser, ifMatch: ifMatch, at: now, on: db) { try rule($0, now, db) }
      let details = try TaskDetails.one(reference, for: actingUser.user, on: db)
      let people = try peopleCache.cached(details.people, withAddressesOf: [actingUser.user])
      return try .exactJSON(TaskAnswer(task: .init(details, people, at: now), message: message))
    }
  }
}
