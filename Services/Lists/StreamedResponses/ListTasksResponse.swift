import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// Builds responses with tasks of one list: whole when they fit one chunk, else streamed.
struct ListTasksResponse: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let list: List
  let user: UserID
  let now: Date

  /// - Parameters:
  ///   - version: the version of the resource, which `If-Match` compares.
  ///   - body: the body of the response with these tasks.
  func response(
    to request: Request, _ selection: TaskSelection, version: Int? = nil,
    body: @Sendable ([ClientBodies.ListTask]) throws -> some Encodable
  ) async throws -> Response {
    guard selection.chunks.count > 1 else {
      let tasks = try await bodies(selection.chunks.first ?? [])
      return try Reply.exactJSON(try body(tasks)).response(to: request, version: version)
    }
    let dependencies = try await entityTagDependencies() + [Data(request.uri.string.utf8)]
    let streamed = try await StreamedResponse(
      try body([]), arrayMember: "tasks", chunkCount: selection.chunks.count
    ) { index in
      try JSON.encodeExact(try await bodies(selection.chunks[index]))
    }
    return streamed.response(to: request, tag: streamed.tag(version: version, dependencies: dependencies))
  }

  func bodies(of details: [TaskDetails]) async throws -> [ClientBodies.ListTask] {
    let ids = details.reduce(into: Set<UserID>()) { $0.formUnion($1.people) }
    let people = try await peopleCache.people(ids, withAddressesOf: [user])
    return details.map { ClientBodies.ListTask($0, people, at: now) }
  }

  private func bodies(_ ids: [Int]) async throws -> [ClientBodies.ListTask] {
    guard !ids.isEmpty else { return [] }
    let details = try await database.read { db in
      // A user who has left the list since the response began must not read more of it.
      _ = try ListStore.list(list.id, for: user, on: db)
      return try TaskDetails.withIDs(ids, of: list, on: db)
    }
    return try await bodies(of: details)
  }

  /// Everything that the unread chunks depend on: the list's revision, the user, the people named on the list, and the
  /// last time at which `minutes_overdue` of one of its tasks changed.
  private func entityTagDependencies() async throws -> [Data] {
    let (ids, minute) = try await database.read { db in
      (try Self.people(on: list, on: db), try Self.lastOverdueMinute(of: list, at: now, on: db))
    }
    var names = Data()
    for chunk in ids.sorted(by: { $0.description < $1.description }).chunks {
      for (id, person) in try await peopleCache.people(Set(chunk), withAddressesOf: [user]).sorted(by: {
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
      union select task_event.user_id from task join task_event on task_event.task_id = task.id
        where task.list_id = \(list.id) and task.deleted_at is null and task.reschedule_count > 0
          and task_event.kind = \(TaskEvent.Kind.reassigned.rawValue) and task_event.user_id is not null
      """)
    return try rows.map { try $0.get("user_id") }
  }

  /// The last time at which an open task of the list became overdue by one more minute, in milliseconds since 1970.
  private static func lastOverdueMinute(of list: List, at now: Date, on db: any Connection) throws -> Int {
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
