import Foundation

/// The parts of a task. Their changes throw ``KithFailure``, such as `viewers_only_read` or `subtask_not_found`.
extension Tasks {
  /// In their order.
  public func subtasks(of task: ListTask.ID) async throws -> [ListTask.Subtask] {
    try await api.value(.get("/api/v1/tasks/\(task)/subtasks", cache: .lists), as: SubtasksAnswer.self).subtasks
  }

  /// One part.
  public func subtask(_ id: ListTask.Subtask.ID, of task: ListTask.ID) async throws -> ListTask.Subtask {
    try await api.value(.get("/api/v1/tasks/\(task)/subtasks/\(id)", cache: .lists), as: SubtaskAnswer.self).subtask
  }

  /// - Parameter clientID: the app's own name of the part: with the same one it is made once, whenever the call is
  ///   repeated.
  public func addSubtask(
    _ title: String, to id: ListTask.ID, clientID: String = UUID().uuidString.lowercased()
  ) async throws -> ListTask.Subtask {
    let body = ["subtask": ["title": title, "client_id": clientID]]
    return try await part(try .post("/api/v1/tasks/\(id)/subtasks", body))
  }

  /// - Parameter version: of the part that the user saw. A change by somebody else since then is not overwritten: 412
  ///   `precondition_failed`.
  public func changeSubtask(
    _ id: ListTask.Subtask.ID, of task: ListTask.ID, _ fields: TaskFields, version: Int? = nil
  ) async throws -> ListTask.Subtask {
    try await part(Call.patch("/api/v1/tasks/\(task)/subtasks/\(id)", ["subtask": fields]).ifMatch(version))
  }

  /// Safe to repeat: what is done stays done.
  @discardableResult
  public func completeSubtask(_ id: ListTask.Subtask.ID, of task: ListTask.ID) async throws -> ListTask.Subtask {
    try await part(try .post("/api/v1/tasks/\(task)/subtasks/\(id)/complete"))
  }

  /// Safe to repeat.
  @discardableResult
  public func reopenSubtask(_ id: ListTask.Subtask.ID, of task: ListTask.ID) async throws -> ListTask.Subtask {
    try await part(try .post("/api/v1/tasks/\(task)/subtasks/\(id)/reopen"))
  }

  /// Safe to repeat.
  public func deleteSubtask(_ id: ListTask.Subtask.ID, of task: ListTask.ID) async throws {
    _ = try await api.send(changing(.delete("/api/v1/tasks/\(task)/subtasks/\(id)")))
  }

  private func part(_ call: Call) async throws -> ListTask.Subtask {
    try await api.value(changing(call), as: SubtaskAnswer.self).subtask
  }
}
