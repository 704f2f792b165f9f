import Database
import Foundation
import Support
import Testing
import Wire

/// What the lists service records when its API is used.
@Suite struct ListEventTests {
  @Test(arguments: engines) func whatHappensInAListIsOnItsTopic(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      let path = "/api/v1/lists/\(list)"
      let member = try await alice.browser.done(
        .POST, "\(path)/memberships", ["membership": ["user_identifier": "bob@example.com", "role": "editor"]]
      ).id(of: "membership")
      let task = try await bob.browser.done(
        .POST, "\(path)/tasks", ["task": ["title": "Milk", "note": "a secret"] as [String: any Sendable]]
      ).id(of: "task")
      let other = try await bob.browser.done(.POST, "\(path)/tasks", ["task": ["title": "Eggs"]]).id(of: "task")
      try await bob.browser.done(.POST, "/api/v1/tasks/\(task)/complete")
      try await bob.browser.done(.POST, "/api/v1/tasks/\(task)/complete")
      try await bob.browser.done(.POST, "/api/v1/tasks/\(task)/reopen")
      try await bob.browser.done(.PATCH, "/api/v1/tasks/\(task)", ["task": ["title": "Oat milk"]])
      try await bob.browser.done(.POST, "/api/v1/tasks/\(task)/reorder", ["after_id": other])
      try await bob.browser.done(.DELETE, "/api/v1/tasks/\(other)")
      try await alice.browser.done(.PATCH, path, ["list": ["name": "Shopping"]])
      try await alice.browser.done(
        .PATCH, "\(path)/memberships/\(member)", ["membership": ["role": "viewer"]])
      try await alice.browser.done(.DELETE, "\(path)/memberships/\(member)")
      #expect(try await bob.browser.get(path).status == 404)
      try await alice.browser.done(.DELETE, path)

      let topic = "lists:\(list)"
      let deleted = try await receiver.event("list_deleted", on: topic)
      #expect(
        receiver.names(on: topic) == [
          "member_joined", "task_created", "task_created", "task_completed", "task_reopened", "task_changed",
          "tasks_reordered", "task_deleted", "list_changed", "member_role_changed", "member_removed", "list_deleted",
        ])
      #expect(deleted.access == [.end(of: topic)])
      // Who reads a list reads it from when they were let in, in whatever role.
      #expect(receiver.events(on: topic).first { $0.name == "member_role_changed" }?.access == nil)
      #expect(receiver.names(on: "users:\(alice.id)").contains("list_created"))
      #expect(
        receiver.names(on: "users:\(bob.id)").filter { $0.hasPrefix("member") }
          == ["member_joined", "member_role_changed", "member_removed"])
      // Nothing of the list is on anybody else's topic.
      let topics = Set(receiver.events.flatMap(\.topics))
      #expect(topics.isSubset(of: [topic, "users:\(alice.id)", "users:\(bob.id)"]))
    }
  }

  @Test(arguments: engines) func eventsOfTasksHaveTheIDsAndTheRow(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let list = try await alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      let made = try await alice.browser.done(
        .POST, "/api/v1/lists/\(list)/tasks",
        ["task": ["title": "Milk", "note": "a long note", "priority": 2] as [String: any Sendable]])
      let (topic, task) = ("lists:\(list)", made.id(of: "task"))

      let created = try await receiver.event("task_created", on: topic)
      #expect(created.number("task_id") == task && created.number("list_id") == list)
      #expect(created.text("by") == alice.id.description)
      let insert = try #require(created.change)
      #expect(insert.schema == "public" && insert.table == "tasks" && insert.type == .insert && insert.oldRecord == nil)
      let record = try #require(insert.record)
      #expect(record["id"] == .integer(task) && record["title"] == .string("Milk") && record["priority"] == .integer(2))
      #expect(record["completed_at"] == .null && record["status"] == .string("pending"))
      let shown = (made["task"] as? [String: Any]) ?? [:]
      #expect(record["position"] == .integer((shown["position"] as? NSNumber)?.intValue ?? -1))
      #expect(record["version"] == .integer((shown["version"] as? NSNumber)?.intValue ?? -1))
      #expect(record["created_at"] == .string(shown["created_at"] as? String ?? ""))
      #expect(try !created.shown.contains("a long note"))

      let done = try await alice.browser.done(.POST, "/api/v1/tasks/\(task)/complete")
      let completed = try await receiver.event("task_completed", on: topic)
      #expect(completed.change?.type == .update && completed.change?.oldRecord == .object(["id": .integer(task)]))
      #expect(completed.change?.record?["status"] == .string("done"))
      #expect(
        completed.change?.record?["version"]
          == .integer(((done["task"] as? [String: Any])?["version"] as? NSNumber)?.intValue ?? -1))

      try await alice.browser.done(.DELETE, "/api/v1/tasks/\(task)")
      let deleted = try await receiver.event("task_deleted", on: topic)
      #expect(
        deleted.change
          == RowChange(table: "tasks", type: .delete, record: nil, oldRecord: .object(["id": .integer(task)])))
    }
  }

  /// The names by which notifications are chosen.
  @Test(arguments: engines) func whoIsToDoATaskAndWhenIsTold(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      try await alice.browser.done(
        .POST, "/api/v1/lists/\(list)/memberships",
        ["membership": ["user_identifier": "bob@example.com", "role": "editor"]])
      let task = try await alice.browser.done(
        .POST, "/api/v1/lists/\(list)/tasks", ["task": ["title": "Milk"]]
      ).id(of: "task")
      let path = "/api/v1/tasks/\(task)"
      try await alice.browser.done(.PATCH, "\(path)/assign", ["assigned_to": bob.id.description])
      try await alice.browser.done(.PATCH, "\(path)/unassign", [:])
      let due = stack.clock.now.addingTimeInterval(86_400).formatted(.iso8601)
      try await alice.browser.done(.POST, "\(path)/reassign", ["new_due_at": due, "reason": "Closed today"])
      let rescheduled = try await receiver.event("task_rescheduled", on: "lists:\(list)")
      #expect(rescheduled.change?.record?["due_at"]?.string != nil)
      let names = ["task_created", "task_assigned", "task_unassigned", "task_rescheduled"]
      let events = receiver.events(on: "lists:\(list)").filter { $0.number("task_id") == task }
      #expect(events.map(\.name) == names)
      #expect(events[1].text("assignee_id") == "\(bob.id)" && events[1].text("by") == "\(alice.id)")
    }
  }

  @Test(arguments: engines) func aRefusedRequestIsNoEvent(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      let path = "/api/v1/lists/\(list)/tasks"
      #expect(try await bob.browser.post(path, ["task": ["title": "Not mine"]]).status == 404)
      #expect(try await alice.browser.post(path, ["task": ["title": ""]]).status == 422)
      // A request that is repeated with its key happens once.
      let once = alice.browser.with(["Idempotency-Key": "once"])
      for _ in 1...3 { try await once.done(.POST, path, ["task": ["title": "Milk"]]) }
      let task = try await alice.browser.done(.POST, path, ["task": ["title": "Eggs"]]).id(of: "task")
      try await eventually {
        receiver.events(on: "lists:\(list)").contains { $0.number("task_id") == task }
      }
      #expect(receiver.names(on: "lists:\(list)") == ["task_created", "task_created"])
    }
  }

  @Test(arguments: engines) func aTagIsChangedOnEveryListThatShowsIt(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let tag = try await alice.browser.done(.POST, "/api/v1/tags", ["tag": ["name": "Soon"]]).id(of: "tag")
      var lists: [Int] = []
      for number in 1...20 {
        let list: [String: any Sendable] = ["name": "List \(number)", "tag_ids": [tag]]
        lists.append(try await alice.browser.done(.POST, "/api/v1/lists", ["list": list]).id(of: "list"))
      }
      try await alice.browser.done(.PATCH, "/api/v1/tags/\(tag)", ["tag": ["name": "Later"]])
      for list in lists {
        let changed = try await receiver.event("tag_changed", on: "lists:\(list)")
        // Who reads one list does not learn of the others.
        #expect(changed.payload == .object(["tag_id": .integer(tag)]))
        #expect(changed.topics.count <= FeedEvent.topicsMax)
      }
    }
  }

  @Test(arguments: engines) func theOwnerOfATopicSaysWhoMayReadIt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let people = (
        alice: try await stack.signIn("alice"), bob: try await stack.signIn("bob"),
        carol: try await stack.signIn("carol")
      )
      let list = try await people.alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "A"]]).id(of: "list")
      try await people.alice.browser.done(
        .POST, "/api/v1/lists/\(list)/memberships",
        ["membership": ["user_identifier": "bob@example.com", "role": "viewer"]])
      let events = stack.lists.with(stack.with(key: "events"))
      func access(_ user: SignedInUser, _ topic: String) async throws -> TopicAccess {
        let reply = try await events.done(.GET, "/internal/topics/access?topic=\(topic)&user_id=\(user.id)")
        return TopicAccess(read: reply.bool("read") == true, write: reply.bool("write") == true)
      }
      #expect(try await access(people.alice, "lists:\(list)") == TopicAccess(read: true, write: true))
      #expect(try await access(people.bob, "lists:\(list)") == TopicAccess(read: true, write: false))
      #expect(try await access(people.carol, "lists:\(list)") == .none)
      for topic in ["lists:0\(list)", "lists:+\(list)", "lists:", "lists:99", "users:\(people.alice.id)"] {
        #expect(try await access(people.alice, topic) == .none, "\(topic)")
      }
      let topics = try await events.done(.GET, "/internal/topics?user_id=\(people.bob.id)")["topics"] as? [String]
      #expect(topics == ["lists:\(list)"])
      #expect(try await events.get("/internal/topics?user_id=bob").status == 422)
      #expect(try await events.get("/internal/topics/access?user_id=\(people.bob.id)").status == 422)
      let stranger = stack.lists.with(stack.with(key: "groups"))
      #expect(try await stranger.get("/internal/topics?user_id=\(people.bob.id)").status == 403)

      try await people.alice.browser.done(.DELETE, "/api/v1/lists/\(list)")
      #expect(try await access(people.alice, "lists:\(list)") == .none)
    }
  }
}
