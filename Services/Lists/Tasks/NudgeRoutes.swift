import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The route by which a member of a list reminds the assignee of a task, at most once in ten minutes.
struct NudgeRoutes: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let contactVisibility: ContactVisibility
  let idempotentChange: IdempotentChange
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.forUsers()
    for path in TaskRoutes.paths { userRoutes.post(RouterPath("\(path)/nudge"), use: nudge) }
  }

  /// Whoever is blocked by the assignee reaches nobody, and is not told so.
  @Sendable private func nudge(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, reference, now) = (context.user, try context.taskReference(), now())
    let task = try await database.read { db in try TaskDetails.task(reference, for: user, on: db) }
    let assignee = try task.nudgedAssignee(by: user)
    try await contactVisibility.users.requireProven(user)
    let isBlocked = try await contactVisibility.isBlocked(user, from: assignee)
    return try await idempotentChange.response(to: request, context) { db, peopleCache in
      let task = try TaskDetails.task(reference, for: user, on: db)
      let assignee = try task.nudgedAssignee(by: user)
      try NudgeStore.nudge(task.id, at: now, on: db)
      if !isBlocked { TaskEvents.nudged(task, assignee, by: user, at: now, on: db) }
      let details = try TaskDetails.one(reference, for: user, on: db)
      let people = try peopleCache.cached(details.people, withAddressesOf: [user])
      return try .exactJSON(TaskAnswer(task: .init(details, people, at: now), message: "Nudge sent"))
    }
  }
}

/// The statement on when tasks were nudged.
enum NudgeStore {
  static let intervalSeconds = 600

  /// - Throws: 429 when the task was nudged less than ten minutes ago.
  static func nudge(_ task: Int, at now: Date, on db: any Connection) throws {
    let changed = try db.change(
      """
      update task set nudged_at = \(now)
      where id = \(task) and (nudged_at is null or nudged_at <= \(now - Double(intervalSeconds)))
      """)
    guard changed == 1 else {
      let row = try db.row("select nudged_at from task where id = \(task)")
      let nudgedAt = try row?.optional("nudged_at", as: Date.self) ?? now
      let left = nudgedAt + Double(intervalSeconds) - now.timeIntervalSince1970
      throw Failure(
        .limited, "nudged_recently", "This task was nudged less than ten minutes ago.",
        retryAfterSeconds: min(intervalSeconds, max(1, Int(left.timeIntervalSince1970.rounded(.up)))))
    }
  }
}

extension ListTask {
  /// The user whom a nudge reminds.
  ///
  /// - Throws: 403 for viewers; 422 for a task that is done, or assigned to nobody or to the caller.
  fileprivate func nudgedAssignee(by user: UserID) throws -> UserID {
    try role.requireEditor()
    guard !isDone else { throw Failure.invalid(.init("task", "is done")) }
    guard let assignee else { throw Failure.invalid(.init("assigned_to", "is nobody")) }
    guard assignee != user else { throw Failure.invalid(.init("assigned_to", "is you")) }
    return assignee
  }
}
