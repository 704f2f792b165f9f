import Foundation

/// The tasks of lists.
public struct Tasks: Sendable {
  let api: API

  /// All of a list, in their order.
  public func all(in list: SharedList.ID) async throws -> [ListTask] { try await changes(in: list, since: nil).changed }

  /// The tasks that have changed since a cursor; without one, all. While `hasMore`, ask again.
  public func changes(in list: SharedList.ID, since cursor: String?) async throws -> Changes<ListTask> {
    let answer = try await api.value(
      .get("/api/v1/lists/\(list)/tasks", ["since": cursor], cache: cursor == nil ? .lists : nil), as: TasksAnswer.self)
    return Changes(
      changed: answer.tasks, deletedIDs: (answer.tombstones ?? []).compactMap { Int($0) }, cursor: answer.cursor,
      hasMore: answer.hasMore ?? false)
  }

  /// With the history.
  public func task(_ id: ListTask.ID) async throws -> ListTask {
    try await api.value(.get("/api/v1/tasks/\(id)", cache: .lists), as: TaskAnswer.self).task
  }

  /// - Parameter clientID: the app's own name of the task: with the same one the task is made once, whenever the call
  ///   is repeated.
  public func create(
    _ fields: TaskFields, in list: SharedList.ID, clientID: String = UUID().uuidString.lowercased()
  ) async throws -> ListTask {
    let body = ["task": fields.setting("client_id", to: .string(clientID))]
    return try await one(try .post("/api/v1/lists/\(list)/tasks", body))
  }

  /// - Parameter version: of the task that the user saw. A change by somebody else since then is not overwritten: 412
  ///   `precondition_failed`.
  public func change(_ id: ListTask.ID, _ fields: TaskFields, version: Int? = nil) async throws -> ListTask {
    try await one(Call.patch("/api/v1/tasks/\(id)", ["task": fields]).ifMatch(version))
  }

  /// Safe to repeat: what is done stays done.
  public func complete(
    _ id: ListTask.ID, missedReason: String? = nil, version: Int? = nil
  ) async throws -> ListTask {
    var body: [String: String] = [:]
    body["missed_reason"] = missedReason
    return try await one(Call.post("/api/v1/tasks/\(id)/complete", body).ifMatch(version))
  }

  /// Safe to repeat.
  public func reopen(_ id: ListTask.ID, version: Int? = nil) async throws -> ListTask {
    try await one(Call.post("/api/v1/tasks/\(id)/reopen").ifMatch(version))
  }

  /// - Parameter user: the number of the owner or a member of the list.
  public func assign(_ id: ListTask.ID, to user: Int) async throws -> ListTask {
    try await one(try .post("/api/v1/tasks/\(id)/assign", ["assigned_to": user]))
  }

  /// Safe to repeat.
  public func unassign(_ id: ListTask.ID) async throws -> ListTask {
    try await one(try .post("/api/v1/tasks/\(id)/unassign"))
  }

  /// Moves the due date. A task in strict mode needs a reason.
  public func reschedule(_ id: ListTask.ID, to date: Date, reason: String? = nil) async throws -> ListTask {
    var body = ["new_due_at": date.rfc3339]
    body["reason"] = reason
    return try await one(try .post("/api/v1/tasks/\(id)/reassign", body))
  }

  /// Moves the task below another one of its list.
  public func move(_ id: ListTask.ID, after other: ListTask.ID) async throws {
    _ = try await api.send(changing(try .post("/api/v1/tasks/\(id)/reorder", ["after_id": other])))
  }

  /// Moves several tasks of a list: they come in this order, at the front. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `task_not_found`: then none is moved.
  public func arrange(_ ids: [ListTask.ID], in list: SharedList.ID) async throws {
    struct Move: Encodable {
      let id: ListTask.ID
      let afterID: JSONValue

      private enum CodingKeys: String, CodingKey {
        case id
        case afterID = "after_id"
      }
    }
    let moves = ids.enumerated().map { Move(id: $1, afterID: $0 == 0 ? .null : .int(ids[$0 - 1])) }
    _ = try await api.send(changing(try .post("/api/v1/lists/\(list)/tasks/reorder", ["tasks": moves])))
  }

  /// Reminds the one to whom the task is assigned, at most once in ten minutes.
  ///
  /// - Throws: ``KithFailure``, such as `nudged_recently`, or `validation_error` for a task that is done, or assigned to
  ///   nobody or to oneself.
  public func nudge(_ id: ListTask.ID) async throws {
    _ = try await api.send(changing(try .post("/api/v1/tasks/\(id)/nudge")))
  }

  /// Safe to repeat.
  ///
  /// - Parameter reason: for the task's history.
  public func delete(_ id: ListTask.ID, reason: String? = nil, version: Int? = nil) async throws {
    _ = try await api.send(changing(Call.delete("/api/v1/tasks/\(id)", ["reason": reason]).ifMatch(version)))
  }

  /// Over all lists, the most urgent first.
  ///
  /// - Parameters:
  ///   - page: from 1.
  ///   - pageSize: 1 to 50.
  public func mostUrgent(
    _ filter: TaskFilter = TaskFilter(), page: Int = 1, pageSize: Int = 25
  ) async throws -> TaskPage {
    var query = filter.query
    query["page"] = String(page)
    query["per_page"] = String(pageSize)
    return try await api.value(.get("/api/v1/tasks", query, cache: .lists))
  }

  /// Over all lists; at most 50.
  public func search(_ text: String) async throws -> [ListTask] {
    try await api.value(.get("/api/v1/tasks/search", ["q": text]), as: TasksAnswer.self).tasks
  }

  /// What is due on the user's present day, what is overdue, and what is done.
  public func today(timeZone: TimeZone = .current) async throws -> Today {
    try await api.value(.get("/api/v1/today", ["timezone": timeZone.ianaName]))
  }

  func one(_ call: Call) async throws -> ListTask {
    try await api.value(changing(call), as: TaskAnswer.self).task
  }

  func changing(_ call: Call) -> Call { call.with { $0.cache = .lists } }
}
