import Foundation

/// A change that waits to be sent.
struct PendingChange: Sendable, Codable, Equatable {
  enum Kind: Sendable, Codable, Equatable {
    case createList(name: String)
    case createTask(list: OfflineID, fields: TaskFields)
    /// With the values that the user saw, of the fields that the change sets.
    case changeTask(fields: TaskFields, seen: [String: JSONValue])
    case completeTask
    case reopenTask
    case deleteTask
  }

  /// The `Idempotency-Key`: a change whose answer was lost is applied once, also when the app was killed meanwhile.
  let key: String
  /// What is made or changed.
  let id: OfflineID
  let kind: Kind
  /// For a message to the user.
  let title: String

  init(_ kind: Kind, of id: OfflineID, title: String) {
    key = UUID().uuidString.lowercased()
    self.id = id
    self.kind = kind
    self.title = title
  }
}

/// What is kept on the device: the server's state as it was last seen, and the changes that wait.
struct OfflineState: Sendable, Codable {
  var userID: String?
  var listCursor: String?
  var lists: [Int: SharedList] = [:]
  var tasks: [Int: [Int: ListTask]] = [:]
  var taskCursors: [Int: String] = [:]
  var queue: [PendingChange] = []
  /// What could not be applied, and was not told yet.
  var conflicts: [OfflineConflict]?
  /// The server's ids of what was made on this device.
  var sentIDs: [OfflineID: Int] = [:]

  func serverID(_ id: OfflineID) -> Int? {
    if case .server(let number) = id { number } else { sentIDs[id] }
  }

  /// The id under which views know it.
  func shownID(_ number: Int, clientID: String?) -> OfflineID {
    if let clientID, sentIDs[.local(clientID)] == number { return .local(clientID) }
    return .server(number)
  }

  func task(_ id: OfflineID) -> ListTask? {
    guard let number = serverID(id) else { return nil }
    return tasks.values.lazy.compactMap { $0[number] }.first
  }

  /// The values of fields that the user sees: the server's, and over them those that wait.
  func shownValues(of names: some Collection<String>, in id: OfflineID) -> [String: JSONValue] {
    guard var values = task(id)?.values(of: names) else { return [:] }
    for change in queue where change.id == id {
      guard case .changeTask(let fields, _) = change.kind else { continue }
      for name in names { if let value = fields.values[name], values[name] != nil { values[name] = value } }
    }
    return values
  }

  mutating func put(_ task: ListTask) { tasks[task.listID, default: [:]][task.id] = task }

  mutating func removeTask(_ number: Int) { for list in tasks.keys { tasks[list]?[number] = nil } }
}

/// What the user sees.
extension OfflineState {
  var shownLists: [OfflineList] {
    var shown = lists.values.sorted { $0.id < $1.id }.map { list in
      OfflineList(id: sentIDs.first { $0.value == list.id && $0.key.isList }?.key ?? .server(list.id), name: list.name)
    }
    for change in queue {
      guard case .createList(let name) = change.kind, !shown.contains(where: { $0.id == change.id }) else { continue }
      shown.append(OfflineList(id: change.id, name: name, isPending: true))
    }
    return shown
  }

  func shownTasks(in list: OfflineID) -> [OfflineTask] {
    var shown: [OfflineTask] = []
    if let number = serverID(list) {
      let known = (tasks[number] ?? [:]).values.filter { $0.parentTaskID == nil }
      shown = known.sorted { ($0.position ?? 0, $0.id) < ($1.position ?? 0, $1.id) }.map {
        OfflineTask($0, id: shownID($0.id, clientID: $0.clientID), in: list)
      }
    }
    for change in queue { apply(change, to: &shown, in: list) }
    return shown
  }

  private func apply(_ change: PendingChange, to shown: inout [OfflineTask], in list: OfflineID) {
    if case .createTask(let place, let fields) = change.kind {
      guard place == list || serverID(place) != nil && serverID(place) == serverID(list),
        !shown.contains(where: { $0.id == change.id })
      else { return }
      shown.append(OfflineTask(fields, id: change.id, in: list))
      return
    }
    guard let index = shown.firstIndex(where: { isSame($0.id, change.id) }) else { return }
    shown[index].isPending = true
    switch change.kind {
    case .changeTask(let fields, _): shown[index].set(fields)
    case .completeTask: shown[index].isDone = true
    case .reopenTask: shown[index].isDone = false
    case .deleteTask: shown.remove(at: index)
    case .createList, .createTask: break
    }
  }

  private func isSame(_ first: OfflineID, _ second: OfflineID) -> Bool {
    first == second || serverID(first) != nil && serverID(first) == serverID(second)
  }
}

extension OfflineID {
  /// Lists and tasks have numbers of their own: the name says which it is.
  fileprivate var isList: Bool {
    if case .local(let name) = self { name.hasPrefix(Self.listPrefix) } else { false }
  }

  static let listPrefix = "list-"
  static func newList() -> OfflineID { .local(listPrefix + UUID().uuidString.lowercased()) }
}

extension OfflineTask {
  fileprivate init(_ task: ListTask, id: OfflineID, in list: OfflineID) {
    self.init(
      id: id, listID: list, title: task.title, note: task.note, dueAt: task.dueAt, priority: task.priority ?? 0,
      starred: task.starred ?? false, isDone: task.status == "done")
  }

  fileprivate init(_ fields: TaskFields, id: OfflineID, in list: OfflineID) {
    self.init(
      id: id, listID: list, title: "", note: nil, dueAt: nil, priority: 0, starred: false, isDone: false,
      isPending: true)
    set(fields)
  }

  fileprivate mutating func set(_ fields: TaskFields) {
    for (name, value) in fields.values {
      switch (name, value) {
      case ("title", .string(let text)): title = text
      case ("note", _): note = value.string
      case ("due_at", _): dueAt = value.string.flatMap { Date(rfc3339: $0) }
      case ("priority", .int(let number)): priority = number
      case ("starred", .bool(let isStarred)): starred = isStarred
      default: break
      }
    }
  }
}

extension ListTask {
  /// The present values of some fields, as they would be sent.
  func values(of names: some Sequence<String>) -> [String: JSONValue] {
    var values: [String: JSONValue] = [:]
    for name in names {
      switch name {
      case "title": values[name] = .string(title)
      case "note": values[name] = note.map(JSONValue.string) ?? .null
      case "due_at": values[name] = dueAt.map { .string($0.rfc3339) } ?? .null
      case "priority": values[name] = .int(priority ?? 0)
      case "starred": values[name] = .bool(starred ?? false)
      case "strict_mode": values[name] = .bool(strictMode ?? false)
      case "tag_ids": values[name] = .array((tags ?? []).map(\.id).sorted().map(JSONValue.int))
      default: break
      }
    }
    return values
  }
}
