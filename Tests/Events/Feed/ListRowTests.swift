import Database
import Foundation
import Support
import Testing
import Wire

/// The rows of lists and tasks that change with others.
@Suite struct ListRowTests {
  @Test(arguments: engines) func everyTaskThatMovesIsARow(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let (list, topic) = try await alice.makeList()
      var tasks: [Int] = []
      for number in 1...120 { tasks.append(try await alice.makeTask(["title": "Task \(number)"], in: list)) }
      let positions = Dictionary(uniqueKeysWithValues: tasks.reversed().enumerated().map { ($1, $0 + 1) })
      let moves: [[String: Int]] = positions.map { ["id": $0.key, "position": $0.value] }
      try await alice.browser.done(.POST, "/api/v1/lists/\(list)/tasks/reorder", ["tasks": moves])

      let rows = try await receiver.rows(120, of: "tasks_reordered", on: topic)
      let event = try await receiver.event("tasks_reordered", on: topic)
      #expect(event.rows.count == 21 && event.payload["is_complete"] == .bool(false))
      #expect(rows.allSatisfy { $0.table == "tasks" && $0.type == .update })
      #expect(Set(rows.compactMap { $0.oldRecord?["id"] }) == Set(tasks.map(JSONValue.integer)))
      for row in rows {
        guard case .integer(let id)? = row.record?["id"] else { throw Unexpected(reply: "\(row)") }
        #expect(row.record?["position"] == positions[id].map(JSONValue.integer))
        #expect(row.record?["version"] == event.payload["version"])
      }
      // They have the columns of a task that is changed alone.
      let created = try await receiver.event("task_created", on: topic)
      #expect(columns(rows.first) == columns(created.change))

      try await alice.browser.done(.POST, "/api/v1/tasks/\(tasks[0])/reorder", ["position": 500])
      let moved = try await receiver.rows(1, of: "tasks_reordered", on: topic)
      #expect(moved.first?.oldRecord == .object(["id": .integer(tasks[0])]))
      #expect(moved.first?.record?["title"] == .string("Task 1") && columns(moved.first) == columns(rows.first))
    }
  }

  private func columns(_ change: RowChange?) -> [String] {
    guard case .object(let members)? = change?.record else { return [] }
    return members.keys.sorted()
  }

  @Test(arguments: engines) func partsComeAndGoWithTheirTask(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let (list, topic) = try await alice.makeList()
      let due = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let plants = try await alice.makeTask(
        ["title": "Plants", "due_at": due, "strict_mode": false, "recurrence_pattern": "daily"], in: list)
      for number in 1...100 {
        try await alice.browser.done(
          .POST, "/api/v1/tasks/\(plants)/subtasks", ["subtask": ["title": "Plant \(number)"]])
      }
      try await alice.browser.done(.POST, "/api/v1/tasks/\(plants)/complete")

      let made = try await receiver.rows(101, of: "task_created", on: topic)
      #expect(made.allSatisfy { $0.table == "tasks" && $0.type == .insert && $0.oldRecord == nil })
      guard case .integer(let next)? = made.first?.record?["id"] else { throw Unexpected(reply: "\(made)") }
      #expect(next != plants && made.first?.record?["parent_task_id"] == .null)
      #expect(made.dropFirst().allSatisfy { $0.record?["parent_task_id"] == .integer(next) })
      #expect(made.last?.record?["title"] == .string("Plant 100"))
      #expect(columns(made.first) == columns(made.last))

      try await alice.browser.done(.DELETE, "/api/v1/tasks/\(next)")
      let gone = try await receiver.rows(101, of: "task_deleted", on: topic)
      #expect(gone.allSatisfy { $0.table == "tasks" && $0.type == .delete && $0.record == nil })
      #expect(gone.first?.oldRecord == .object(["id": .integer(next)]))
      #expect(Set(gone.compactMap { $0.oldRecord?["id"] }) == Set(made.compactMap { $0.record?["id"] }))
    }
  }

  @Test(arguments: engines) func tasksOfAMemberWhoIsRemovedAreNobodys(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (list, topic) = try await alice.makeList()
      let membership = try await alice.addEditor("bob", to: list)
      var tasks: [Int] = []
      for title in ["Milk", "Eggs"] {
        let task = try await alice.makeTask(["title": title], in: list)
        try await alice.browser.done(.PATCH, "/api/v1/tasks/\(task)/assign", ["assigned_to": bob.id.description])
        tasks.append(task)
      }
      _ = try await alice.makeTask(["title": "Nobody's"], in: list)
      try await alice.browser.done(.DELETE, "/api/v1/lists/\(list)/memberships/\(membership)")

      let rows = try await receiver.rows(2, of: "tasks_changed", on: topic)
      #expect(rows.allSatisfy { $0.type == .update && $0.record?["assignee_id"] == .null })
      #expect(rows.compactMap { $0.record?["id"] } == tasks.map(JSONValue.integer))
      let changed = try await receiver.event("tasks_changed", on: topic)
      // Bob, who was told first, sees no tasks of the list any more.
      #expect(changed.topics == [topic] && changed.text("by") == alice.id.description)
      #expect(receiver.names(on: topic).suffix(2) == ["member_removed", "tasks_changed"])
    }
  }

  @Test(arguments: engines) func whatAnErasureChangesIsARow(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (list, topic) = try await alice.makeList()
      _ = try await alice.addEditor("bob", to: list)
      var tasks: Set<JSONValue> = []
      for number in 1...40 { tasks.insert(.integer(try await bob.makeTask(["title": "Task \(number)"], in: list))) }
      let (his, hisTopic) = try await bob.makeList()
      _ = try await bob.addEditor("alice", to: his)
      try await stack.lists.with(stack.with(key: "auth")).done(.DELETE, "/internal/users/\(bob.id)/data")

      try await eventually("the rows without bob") {
        let rows = receiver.events(on: topic).filter { ["tasks_changed", "rows_changed"].contains($0.name) }
          .flatMap(\.rows)
        return Set(rows.filter { $0.record?["creator_id"] == .null }.compactMap { $0.record?["id"] }) == tasks
      }
      let changed = try await receiver.event("tasks_changed", on: topic)
      #expect(changed.topics == [topic] && changed.payload["by"] == .null)
      let transferred = try await receiver.event("list_owner_changed", on: hisTopic)
      #expect(transferred.change?.table == "lists" && transferred.change?.type == .update)
      #expect(transferred.change?.oldRecord == .object(["id": .integer(his)]))
      #expect(transferred.change?.record?["owner_id"] == .string(alice.id.description))
    }
  }

  /// The account is deleted as an app does it.
  @Test(arguments: engines) func aListWhoseOwnerIsErasedIsItsEditorsOrNobodys(engine: Engine) async throws {
    try await withEvents(of: engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (shared, topic) = try await bob.makeList()
      let (lone, other) = try await bob.makeList()
      _ = try await bob.addEditor("alice", to: shared)
      try await bob.browser.done(
        .POST, "/api/v1/lists/\(lone)/memberships",
        ["membership": ["user_identifier": "alice@example.com", "role": "viewer"]])
      // What waits is withdrawn with his account.
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "lists") == 0 }
      try await bob.browser.done(.DELETE, "/api/v1/auth/account")

      let transferred = try await receiver.event("list_owner_changed", on: topic)
      let deleted = try await receiver.event("list_deleted", on: other)
      _ = try await receiver.event("account_erased", on: "users:\(bob.id)")
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "lists") == 0 }
      #expect(receiver.names(on: topic) == ["member_joined", "list_owner_changed"])
      #expect(receiver.names(on: other) == ["member_joined", "list_deleted"])

      let owner = JSONValue.string(alice.id.description)
      #expect(transferred.payload == .object(["list_id": .integer(shared), "owner_id": owner]))
      #expect(transferred.topics == [topic])
      #expect(transferred.access == [AccessChange(topic: topic, user: bob.id, mayRead: false)])
      #expect(transferred.rows.map(\.table) == ["lists"] && transferred.change?.type == .update)
      #expect(transferred.change?.oldRecord == .object(["id": .integer(shared)]))
      #expect(
        columns(transferred.change) == [
          "color", "created_at", "description", "id", "list_type", "name", "owner_id", "updated_at", "version",
          "visibility",
        ])
      let record = transferred.change?.record
      #expect(record?["id"] == .integer(shared) && record?["name"] == .string("Groceries"))
      #expect(record?["owner_id"] == owner)

      #expect(deleted.payload == .object(["list_id": .integer(lone), "by": .null]) && deleted.topics == [other])
      #expect(deleted.access == [.end(of: other)])
    }
  }
}

extension SignedInUser {
  fileprivate func makeList() async throws -> (id: Int, topic: String) {
    let id = try await browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
    return (id, "lists:\(id)")
  }

  fileprivate func makeTask(_ task: [String: any Sendable], in list: Int) async throws -> Int {
    try await browser.done(.POST, "/api/v1/lists/\(list)/tasks", ["task": task]).id(of: "task")
  }

  /// - Returns: the id of the membership.
  fileprivate func addEditor(_ name: String, to list: Int) async throws -> Int {
    try await browser.done(
      .POST, "/api/v1/lists/\(list)/memberships",
      ["membership": ["user_identifier": "\(name)@example.com", "role": "editor"]]
    ).id(of: "membership")
  }
}
