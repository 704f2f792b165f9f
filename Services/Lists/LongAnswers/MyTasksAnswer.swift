import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Answers with tasks of all lists that somebody is in: at once where they are short, else piece by piece.
struct MyTasksAnswer: Sendable {
  let database: any Database
  let acquaintances: Acquaintances
  let user: UserID
  let now: Date

  /// - Parameter body: the answer with these tasks.
  func response(
    to request: Request, _ plan: TaskPlan, body: @Sendable ([TaskBody]) throws -> some Encodable
  ) async throws -> Response {
    guard plan.pieces.count > 1 else {
      let tasks = try await bodies(plan.pieces.first ?? [])
      return try Reply.exactJSON(try body(tasks)).response(to: request)
    }
    let answer = try await LongAnswer(try body([]), filling: "tasks", pieces: plan.pieces.count) { index in
      try JSON.encodeExact(try await bodies(plan.pieces[index]))
    }
    // Without a tag: no revision counts what changes on all of these lists, so one would take reading every piece first.
    return answer.response(to: request, tag: nil)
  }

  func bodies(of views: [TaskView]) async throws -> [TaskBody] {
    let people = try await acquaintances.people(views.reduce(into: []) { $0.formUnion($1.people) }, showing: [user])
    return views.map { TaskBody($0, people, at: now) }
  }

  private func bodies(_ ids: [Int]) async throws -> [TaskBody] {
    guard !ids.isEmpty else { return [] }
    return try await bodies(of: try await database.read { db in try TaskView.some(ids, for: user, on: db) })
  }
}

extension TaskView {
  /// Tasks and sub-tasks of whichever lists the user is in now, in the order of their ids here. Who is gone is left out.
  static func some(_ ids: [Int], for user: UserID, on db: any Connection) throws -> [TaskView] {
    let rows = try db.rows(
      """
      select \(taskColumns), case when l.owner_id = \(user) then 'owner' else m.role end as role
      from task t join list l on l.id = t.list_id
        left join membership m on m.list_id = t.list_id and m.user_id = \(user)
      where t.id in (\(list: ids.padded)) and t.deleted_at is null and l.deleted_at is null
        and (l.owner_id = \(user) or m.user_id is not null)
      """)
    let tasks = try rows.reduce(into: [Int: ListTask]()) { tasks, row in
      let task = try ListTask(row, role: try Role(row))
      tasks[task.id] = task
    }
    return try with(ids.compactMap { tasks[$0] }, on: db)
  }
}
