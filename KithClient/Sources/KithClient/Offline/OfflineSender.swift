import Foundation

/// Sends one change of the queue, and decides what becomes of it.
struct OfflineSender {
  struct Outcome {
    var list: SharedList?
    var task: ListTask?
    var isGone = false
    var conflict: OfflineConflict?
  }

  let api: API

  /// - Throws: what another try may mend: no network, no session, an overloaded server.
  mutating func send(_ change: PendingChange, _ state: OfflineState) async throws -> Outcome {
    do { return try await sent(change, state) } catch let KithFailure.refused(refusal)
      where (400..<500).contains(refusal.status) && ![401, 408, 429].contains(refusal.status)
    {
      let isGone = [404, 410].contains(refusal.status)
      let reason: OfflineConflict.Reason = isGone ? .gone : .refused(code: refusal.code.text)
      if isGone, case .deleteTask = change.kind { return Outcome(isGone: true) }
      return Outcome(isGone: isGone, conflict: OfflineConflict(reason: reason, title: change.title))
    }
  }

  private func sent(_ change: PendingChange, _ state: OfflineState) async throws -> Outcome {
    switch change.kind {
    case .createList(let name):
      let call = try Call.post("/api/v1/lists", ["list": ["name": name]])
      return Outcome(list: try await api.value(keyed(call, change), as: ListAnswer.self).list)
    case .createTask(let list, let fields):
      guard case .local(let clientID) = change.id, let number = state.serverID(list) else { return gone(change) }
      let body = ["task": fields.setting("client_id", to: .string(clientID))]
      return Outcome(task: try await task(keyed(try .post("/api/v1/lists/\(number)/tasks", body), change)))
    case .changeTask(let fields, let seen): return try await changed(change, fields, seen, state)
    case .completeTask: return try await acted(change, "complete", state)
    case .reopenTask: return try await acted(change, "reopen", state)
    case .deleteTask:
      guard let number = state.serverID(change.id) else { return gone(change) }
      _ = try await api.send(keyed(.delete("/api/v1/tasks/\(number)"), change))
      return Outcome(isGone: true)
    }
  }

  private func acted(_ change: PendingChange, _ action: String, _ state: OfflineState) async throws -> Outcome {
    guard let number = state.serverID(change.id) else { return gone(change) }
    return Outcome(task: try await task(keyed(try .post("/api/v1/tasks/\(number)/\(action)"), change)))
  }

  /// With the version that is known here. When somebody else was first, only the fields that they have left as the user
  /// saw them are set, on their version.
  private func changed(
    _ change: PendingChange, _ fields: TaskFields, _ seen: [String: JSONValue], _ state: OfflineState
  ) async throws -> Outcome {
    guard var current = state.task(change.id) else { return gone(change) }
    var rest = fields
    var lost: Set<String> = []
    var isFirst = true
    while true {
      let present = current.values(of: seen.keys)
      lost.formUnion(seen.filter { present[$0.key] != $0.value && rest.values[$0.key] != present[$0.key] }.keys)
      rest = rest.without(lost)
      guard rest.values.keys.contains(where: { $0 != "reason" }) else {
        return Outcome(task: current, conflict: conflict(lost, change))
      }
      // A key belongs to one request: with another version or fewer fields it is another one.
      let key = isFirst && lost.isEmpty ? change.key : "\(change.key)-\(current.version ?? 0)"
      isFirst = false
      do {
        let call = try Call.patch("/api/v1/tasks/\(current.id)", ["task": rest]).ifMatch(current.version)
        let task = try await task(call.with { $0.idempotencyKey = key })
        return Outcome(task: task, conflict: conflict(lost, change))
      } catch let failure as KithFailure where failure.code == .known(.preconditionFailed) {
        current = try await task(Call.get("/api/v1/tasks/\(current.id)"))
      }
    }
  }

  private func conflict(_ lost: Set<String>, _ change: PendingChange) -> OfflineConflict? {
    lost.isEmpty ? nil : OfflineConflict(reason: .changedByOthers(fields: lost.sorted()), title: change.title)
  }

  /// What it belongs to could not be made, or was deleted.
  private func gone(_ change: PendingChange) -> Outcome {
    Outcome(isGone: true, conflict: OfflineConflict(reason: .gone, title: change.title))
  }

  private func task(_ call: Call) async throws -> ListTask {
    try await api.value(call.with { if $0.method != .get { $0.cache = .lists } }, as: TaskAnswer.self).task
  }

  private func keyed(_ call: Call, _ change: PendingChange) -> Call {
    call.with {
      $0.idempotencyKey = change.key
      $0.cache = .lists
    }
  }
}
