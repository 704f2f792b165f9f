import Foundation

/// Lists and tasks that can be read and changed without a network, and after a restart of the app.
///
/// Changes are shown at once, wait in a queue on the device, and are sent in their order by ``sync()``. What somebody
/// else has changed first is not overwritten: of a task, the fields that both have changed stay as theirs, and are
/// reported.
public actor OfflineLists {
  private let api: API
  private let file: StateFile<OfflineState>
  var state: OfflineState
  private var syncing: Task<SyncReport, any Error>?
  private var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
  private var watcherCount = 0

  /// - Parameter file: where the state is kept; in the app's Application Support folder. One for each account.
  public init(client: KithClient, file: URL) {
    api = client.api
    self.file = StateFile(file)
    state = self.file.read() ?? OfflineState()
  }

  public var lists: [OfflineList] { state.shownLists }

  /// How many changes wait.
  public var pendingCount: Int { state.queue.count }

  /// In the order of the list, with the changes that wait.
  public func tasks(in list: OfflineList.ID) -> [OfflineTask] { state.shownTasks(in: list) }

  /// Tells whenever something has changed.
  public var changes: AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    watcherCount += 1
    let id = watcherCount
    watchers[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeWatcher(id) } }
    return stream
  }

  /// - Throws: the errors of the file system; nothing is then changed. So do the other changes.
  public func createList(name: String) throws -> OfflineList.ID {
    let id = OfflineID.newList()
    try enqueue(PendingChange(.createList(name: name), of: id, title: name))
    return id
  }

  /// Makes a task, also in a list that was not sent yet.
  public func createTask(_ fields: TaskFields, in list: OfflineList.ID) throws -> OfflineTask.ID {
    let id = OfflineID.new()
    let title = fields.values["title"]?.string ?? ""
    try enqueue(PendingChange(.createTask(list: list, fields: fields), of: id, title: title))
    return id
  }

  /// Sets some fields of a task.
  public func change(_ task: OfflineTask, _ fields: TaskFields) throws {
    let seen = state.shownValues(of: fields.values.keys, in: task.id)
    try enqueue(PendingChange(.changeTask(fields: fields, seen: seen), of: task.id, title: task.title))
  }

  /// Completes a task.
  public func complete(_ task: OfflineTask) throws {
    try enqueue(PendingChange(.completeTask, of: task.id, title: task.title))
  }

  /// Reopens a task.
  public func reopen(_ task: OfflineTask) throws {
    try enqueue(PendingChange(.reopenTask, of: task.id, title: task.title))
  }

  /// Deletes a task, whatever others have changed of it meanwhile.
  public func delete(_ task: OfflineTask) throws {
    try enqueue(PendingChange(.deleteTask, of: task.id, title: task.title))
  }

  /// Sends what waits, and reads what has changed. Callers that come together share one run. Safe to repeat.
  ///
  /// - Returns: what was sent, and the conflicts since the last run that came to its end.
  /// - Throws: the failures of a call. What was sent stays sent, and the rest waits.
  @discardableResult
  public func sync() async throws -> SyncReport {
    let running = syncing ?? Task { try await synced() }
    syncing = running
    return try await running.cancellableValue
  }

  /// Forgets everything, for who signs out.
  public func removeAll() throws {
    state = OfflineState()
    try file.delete()
    tell()
  }

  private func synced() async throws -> SyncReport {
    defer { syncing = nil }
    _ = try await api.sessions.bearer()
    if let user = await api.sessions.userID {
      if let owner = state.userID, owner != user {
        throw KithFailure.invalid("These lists belong to another account: use a file for each.")
      }
      state.userID = user
    }
    var report = SyncReport()
    var sender = OfflineSender(api: api)
    while let change = state.queue.first {
      let outcome = try await sender.send(change, state)
      try settle(change, outcome)
      report.sentCount += 1
    }
    try await pull()
    report.conflicts = state.conflicts ?? []
    state.conflicts = nil
    try save()
    return report
  }

  private func settle(_ change: PendingChange, _ outcome: OfflineSender.Outcome) throws {
    state.queue.removeAll { $0.key == change.key }
    if let list = outcome.list {
      state.lists[list.id] = list
      state.sentIDs[change.id] = list.id
    }
    if let task = outcome.task {
      state.put(task)
      if case .createTask = change.kind { state.sentIDs[change.id] = task.id }
    }
    if outcome.isGone, let number = state.serverID(change.id) { state.removeTask(number) }
    // Stored, as what follows may fail, and the app may be killed before it has told.
    if let conflict = outcome.conflict { state.conflicts = (state.conflicts ?? []) + [conflict] }
    try save()
  }

  private func pull() async throws {
    let answer = try await Lists(api: api).changes(since: state.listCursor)
    for list in answer.changed { state.lists[list.id] = list }
    for id in answer.deletedIDs {
      state.lists[id] = nil
      state.tasks[id] = nil
      state.taskCursors[id] = nil
    }
    state.listCursor = answer.cursor ?? state.listCursor
    for list in state.lists.keys.sorted() { try await pullTasks(of: list) }
    try save()
  }

  private func pullTasks(of list: Int) async throws {
    var hasMore = true
    while hasMore {
      let answer: Changes<ListTask>
      do { answer = try await Tasks(api: api).changes(in: list, since: state.taskCursors[list]) } catch let failure
        as KithFailure where failure.code == .known(.listNotFound)
      {
        // It was deleted, or left, a moment ago: the next pull says so.
        return
      }
      for task in answer.changed { state.put(task) }
      for id in answer.deletedIDs { state.tasks[list]?[id] = nil }
      hasMore = answer.hasMore && answer.cursor != state.taskCursors[list]
      state.taskCursors[list] = answer.cursor ?? state.taskCursors[list]
    }
  }

  private func enqueue(_ change: PendingChange) throws {
    state.queue.append(change)
    do { try save() } catch {
      // What is not stored would be lost by a restart: it is not shown either.
      state.queue.removeLast()
      throw error
    }
  }

  private func save() throws {
    try file.write(state)
    tell()
  }

  private func tell() { for watcher in watchers.values { watcher.yield() } }

  private func removeWatcher(_ id: Int) { watchers[id] = nil }
}
