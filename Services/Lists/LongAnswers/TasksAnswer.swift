import Database
import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// Answers with tasks of one list: at once where they are few, else piece by piece.
struct TasksAnswer: Sendable {
  let database: any Database
  let acquaintances: Acquaintances
  let list: List
  let user: UserID
  let now: Date

  /// - Parameters:
  ///   - version: of what `If-Match` compares.
  ///   - body: the answer with these tasks.
  func response(
    to request: Request, _ plan: TaskPlan, version: Int? = nil, body: @Sendable ([TaskBody]) throws -> some Encodable
  ) async throws -> Response {
    guard plan.pieces.count > 1 else {
      let tasks = try await bodies(plan.pieces.first ?? [])
      return try Reply.exactJSON(try body(tasks)).response(to: request, version: version)
    }
    let others = try await whatElseIsShown() + [Data(request.uri.string.utf8)]
    let answer = try await LongAnswer(try body([]), filling: "tasks", pieces: plan.pieces.count) { index in
      try JSON.encodeExact(try await bodies(plan.pieces[index]))
    }
    return answer.response(to: request, tag: answer.tag(version: version, and: others))
  }

  func bodies(of views: [TaskView]) async throws -> [TaskBody] {
    let ids = views.reduce(into: Set<UserID>()) { $0.formUnion($1.people) }
    let people = try await acquaintances.people(ids, showing: [user])
    return views.map { TaskBody($0, people, at: now) }
  }

  private func bodies(_ ids: [Int]) async throws -> [TaskBody] {
    guard !ids.isEmpty else { return [] }
    let views = try await database.read { db in
      // Whoever has left the list since the answer began reads no more of it.
      _ = try ListStore.list(list.id, for: user, on: db)
      return try TaskView.some(ids, of: list, on: db)
    }
    return try await bodies(of: views)
  }

  /// On what pieces depend that are not there yet: the list's revision, who is named on it, and when something on it was
  /// last one more minute late.
  private func whatElseIsShown() async throws -> [Data] {
    let (ids, minute) = try await database.read { db in
      (try Self.people(on: list, on: db), try Self.lastMinute(of: list, at: now, on: db))
    }
    var names = Data()
    for some in ids.sorted(by: { $0.description < $1.description }).pieces {
      for (id, person) in try await acquaintances.people(Set(some), showing: [user]).sorted(by: {
        $0.value.number < $1.value.number
      }) {
        names += Data("\(id) \(person.number) \(person.email ?? "") \(person.name ?? "")\n".utf8)
      }
    }
    return [Data("\(list.revision) \(user) \(minute)".utf8), names]
  }

  private static func people(on list: List, on db: any Connection) throws -> [UserID] {
    let rows = try db.rows(
      """
      select creator_id as user_id from task where list_id = \(list.id) and deleted_at is null
        and creator_id is not null
      union select assignee_id from task where list_id = \(list.id) and deleted_at is null
        and assignee_id is not null
      union select e.user_id from task t join task_event e on e.task_id = t.id
        where t.list_id = \(list.id) and t.deleted_at is null and t.reschedule_count > 0
          and e.kind = \(TaskEvent.Kind.reassigned.rawValue) and e.user_id is not null
      """)
    return try rows.map { try $0.get("user_id") }
  }

  /// In milliseconds since 1970.
  private static func lastMinute(of list: List, at now: Date, on db: any Connection) throws -> Int {
    let rows = try db.rows(
      """
      select distinct due_at from task where list_id = \(list.id) and deleted_at is null and completed_at is null
        and due_at > '-infinity' and due_at <= \(now)
      """)
    let moment = Int(now.timeIntervalSince1970 * 1000)
    return try rows.reduce(0) { last, row in
      let due = Int(try row.get("due_at", as: Date.self).timeIntervalSince1970 * 1000)
      return max(last, moment - max(moment - due, 0) % 60_000)
    }
  }
}

extension TaskView {
  /// Tasks of a list, in the order of their ids here. Who is gone is left out.
  static func some(_ ids: [Int], of list: List, on db: any Connection) throws -> [TaskView] {
    let rows = try db.rows(
      """
      select \(taskColumns) from task t join list l on l.id = t.list_id
      where t.id in (\(list: ids.padded)) and t.list_id = \(list.id) and t.parent_id is null and t.deleted_at is null
      """)
    let tasks = try rows.reduce(into: [Int: ListTask]()) { tasks, row in
      let task = try ListTask(row, role: list.role)
      tasks[task.id] = task
    }
    return try with(ids.compactMap { tasks[$0] }, on: db)
  }
}
