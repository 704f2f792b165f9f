import Database
import Foundation
import Support
import Testing

/// Actions on tasks, and their history.
@Suite struct TaskTests {
  @Test(arguments: engines) func aTaskIsMadeShownChangedAndDeleted(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let milk = body("task", ["title": "Milk", "note": "Oat", "priority": 4, "starred": true])
      let made = try await alice.post("/api/v1/lists/\(list)/tasks", milk)
      #expect(made.status == 201)
      let task = made.object("task")
      let id = try #require(task.int("id"))
      #expect(task.string("title") == "Milk" && task.string("note") == "Oat" && task.string("status") == "pending")
      #expect(task.int("list_id") == list && task.string("list_name") == "Groceries" && task.int("priority") == 4)
      #expect(task.bool("starred") == true && task.bool("strict_mode") == false && task["due_at"] is NSNull)
      #expect(task.object("creator").string("email") == "alice@example.com" && task.bool("overdue") == false)
      let paths = ["/api/v1/tasks/\(id)", "/api/v1/lists/\(list)/tasks/\(id)"]
      for path in paths {
        let shown = try await alice.get(path).object("task")
        #expect(shown.object("list").string("name") == "Groceries")
        #expect(shown.objects("audit_trail").map { $0.string("kind") } == ["created"])
        #expect(shown.objects("audit_trail").first?.object("user").string("email") == "alice@example.com")
        let changed = try await alice.put(path, body("task", ["title": "Oat milk", "note": NSNull()])).object("task")
        #expect(changed.string("title") == "Oat milk" && changed["note"] is NSNull && changed.int("priority") == 4)
      }
      let other = try await alice.makeList("Other")
      #expect(try await alice.get("/api/v1/lists/\(other)/tasks/\(id)").status == 404)
      #expect(try await alice.get("/api/v1/lists/\(list)").object("list").objects("tasks").count == 1)

      let deleted = try await alice.send(.DELETE, paths[0], body: Data(#"{"reason":"Enough"}"#.utf8))
      #expect(deleted.status == 200 && deleted.string("message") == "Task deleted")
      for path in paths { #expect(try await alice.get(path).status == 404) }
      #expect(try await alice.delete(paths[0]).status == 404)
      #expect(try await alice.get("/api/v1/lists/\(list)").object("list").int("tasks_count") == 0)
    }
  }

  @Test(arguments: engines) func badInputNamesEveryField(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let path = "/api/v1/lists/\(list)/tasks"
      let cases: [([String: any Sendable], [String])] = [
        (["title": ""], ["title"]), ([:], ["title"]), (["title": String(repeating: "x", count: 256)], ["title"]),
        (["title": "x", "note": String(repeating: "x", count: 10_001)], ["note"]),
        (["title": "x", "priority": 5], ["priority"]), (["title": "x", "priority": "high"], ["priority"]),
        (["title": "x", "due_at": "tomorrow"], ["due_at"]),
        (["title": "x", "due_at": "2026-11-21T10:00:00"], ["due_at"]),
        (["title": "x", "due_at": "9999999-01-01T00:00:00Z"], ["due_at"]),
        (["title": "x", "starred": "yes", "status": "lost"], ["starred", "status"]),
        (["title": "x", "strict_mode": true], ["due_at"]), (["title": "x", "tag_ids": [1]], ["tag_ids"]),
        (["title": "x", "tag_ids": "1"], ["tag_ids"]),
      ]
      for (task, faults) in cases {
        let reply = try await alice.post(path, ["task": task])
        #expect(reply.status == 422 && reply.faults == faults, "\(task)")
      }
      #expect(try await alice.post(path, ["title": "x"]).string("code") == "parameter_missing")
      #expect(try await alice.titles(list).isEmpty)
      let note = String(repeating: "ö", count: 10_000)
      _ = try await alice.makeTask(list, String(repeating: "x", count: 255), ["note": note])
    }
  }

  @Test(arguments: engines) func fiftyCompletionsAreOne(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await stack.signIn("bob").browser
      let list = try await alice.makeList()
      try await alice.share(list, with: "bob")
      let id = try await alice.makeTask(list)
      let replies = try await atOnce(50) { index in
        let browser = index.isMultiple(of: 2) ? alice : bob
        let path = index.isMultiple(of: 3) ? "/api/v1/tasks/\(id)" : "/api/v1/lists/\(list)/tasks/\(id)"
        return try await index.isMultiple(of: 5) ? browser.patch("\(path)/complete") : browser.post("\(path)/complete")
      }
      #expect(replies.allSatisfy { $0.status == 200 && $0.object("task").string("status") == "done" })
      #expect(Set(replies.map { $0.object("task").string("completed_at") }).count == 1)
      #expect(replies[0].string("message") == "Task completed")
      let trail = try await alice.get("/api/v1/tasks/\(id)").object("task").objects("audit_trail")
      #expect(trail.map { $0.string("kind") } == ["created", "completed"])
      #expect(try await bob.get("/api/v1/lists/\(list)").object("list").int("completed_tasks_count") == 1)
      let reopened = try await atOnce(10) { _ in try await bob.post("/api/v1/tasks/\(id)/reopen").status }
      #expect(reopened.allSatisfy { $0 == 200 })
      let shown = try await alice.get("/api/v1/tasks/\(id)").object("task")
      #expect(shown.string("status") == "pending" && shown["completed_at"] is NSNull)
      #expect(shown.objects("audit_trail").count == 3)
      #expect(try await bob.get("/api/v1/lists/\(list)").object("list").int("completed_tasks_count") == 0)
    }
  }

  @Test(arguments: engines) func inStrictModeADueDateMovesForAReason(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let (first, second) = ("2030-01-01T10:00:00.000Z", "2030-01-02T10:00:00.000Z")
      let strict = try await alice.makeTask(list, "Strict", ["due_at": first])
      let loose = try await alice.makeTask(list, "Loose", ["due_at": first, "strict_mode": false])
      #expect(try await alice.get("/api/v1/tasks/\(strict)").object("task").bool("strict_mode") == true)
      for action in ["reassign", "reschedule"] {
        let path = "/api/v1/tasks/\(strict)/\(action)"
        #expect(try await alice.post(path, ["due_at": second]).faults == ["reason"])
        #expect(try await alice.post(path, ["due_at": second, "reason": "  "]).faults == ["reason"])
        #expect(try await alice.post(path, ["reason": "late"]).faults == ["due_at"])
      }
      // Nor by a plain change.
      let path = "/api/v1/tasks/\(strict)"
      #expect(try await alice.patch(path, ["task": ["due_at": second]]).faults == ["reason"])
      #expect(try await alice.patch(path, body("task", ["due_at": NSNull(), "reason": "x"])).faults == ["due_at"])
      #expect(try await alice.put(path, ["task": ["title": "Still", "due_at": first]]).status == 200)
      let moved = try await alice.post("\(path)/reassign", ["new_due_at": second, "reason": "The shop was closed"])
      #expect(moved.status == 200 && moved.object("task").string("due_at") == second)
      #expect(moved.string("message") == "Task reassigned")
      let event = try #require(try await alice.get(path).object("task").objects("audit_trail").last)
      #expect(event.string("kind") == "reassigned" && event.string("reason") == "The shop was closed")
      #expect(event.string("original_due_at") == first && event.string("new_due_at") == second)
      #expect(try await alice.patch("/api/v1/tasks/\(loose)", ["task": ["due_at": second]]).status == 200)
      #expect(try await alice.post("/api/v1/tasks/\(loose)/reassign", ["task": ["due_at": first]]).status == 200)
    }
  }

  @Test(arguments: engines) func tasksAreGivenToPeopleOfTheList(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await stack.signIn("bob")
      _ = try await stack.signIn("carol")
      let list = try await alice.makeList()
      let membership = try await alice.share(list, with: "bob", as: "viewer")
      let id = try await alice.makeTask(list)
      let path = "/api/v1/tasks/\(id)"
      for stranger in ["carol@example.com", "nobody@example.com"] {
        #expect(try await alice.post("\(path)/assign", ["assigned_to": stranger]).faults == ["assigned_to"])
      }
      #expect(try await alice.post("\(path)/assign").faults == ["assigned_to"])
      let given = try await alice.patch("\(path)/assign", ["assigned_to": bob.id.description])
      #expect(given.object("task").object("assigned_to").string("name") == "bob")
      #expect(given.object("task").object("assigned_to").string("email").isEmpty)
      #expect(try await bob.browser.get("/api/v1/tasks?assigned_to=me").objects("tasks").count == 1)
      #expect(try await alice.get("/api/v1/tasks?assigned_to=me").objects("tasks").isEmpty)
      #expect(try await alice.post("\(path)/unassign").object("task")["assigned_to"] == nil)
      let trail = try await alice.get(path).object("task").objects("audit_trail").map { $0.string("kind") }
      #expect(trail == ["created", "assigned", "unassigned"])
      // The tasks of a removed member are unassigned.
      _ = try await alice.post("\(path)/assign", ["assigned_to": "bob@example.com"])
      #expect(try await alice.delete("/api/v1/lists/\(list)/memberships/\(membership)").status == 204)
      #expect(try await alice.get(path).object("task")["assigned_to"] == nil)
    }
  }

  @Test(arguments: engines) func whoChangesAnOldVersionIsTold(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let id = try await alice.makeTask(list)
      let path = "/api/v1/tasks/\(id)"
      let first = try await alice.get(path).tag
      #expect(try await alice.with(["If-None-Match": first]).get(path).status == 304)
      let seen = alice.with(["If-Match": first])
      // Of several changes of the same version one succeeds.
      let statuses = try await atOnce(20) { index in try await seen.patch(path, ["task": ["title": "\(index)"]]).status
      }
      #expect(statuses.sorted() == [200] + Array(repeating: 412, count: 19))
      #expect(try await seen.post("\(path)/complete").status == 412)
      #expect(try await seen.delete(path).status == 412)
      let now = try await alice.get(path)
      #expect(now.tag != first)
      let done = try await alice.with(["If-Match": now.tag]).post("\(path)/complete")
      #expect(done.status == 200)
      #expect(try await alice.with(["If-Match": done.tag]).delete(path).status == 200)
    }
  }

  @Test(arguments: engines) func whoWasOfflineRepeatsACreate(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let path = "/api/v1/lists/\(list)/tasks"
      let body: [String: any Sendable] = ["task": ["title": "Milk", "client_id": "phone-1"]]
      let replies = try await atOnce(50) { _ in try await alice.post(path, body) }
      #expect(replies.map(\.status).sorted() == Array(repeating: 200, count: 49) + [201])
      #expect(Set(replies.compactMap { $0.object("task").int("id") }).count == 1)
      #expect(try await alice.titles(list) == ["Milk"])
      #expect(try await alice.get("/api/v1/lists/\(list)").object("list").int("tasks_count") == 1)
      let other = try await alice.makeList("Other")
      #expect(try await alice.post("/api/v1/lists/\(other)/tasks", body).status == 201)
      let id = try #require(replies[0].object("task").int("id"))
      _ = try await alice.delete("/api/v1/tasks/\(id)")
      let gone = try await alice.post(path, body)
      #expect(gone.status == 410 && gone.string("code") == "task_deleted")
      let keyed = alice.with(["Idempotency-Key": "k1"])
      let twins = try await atOnce(10) { _ in try await keyed.post(path, ["task": ["title": "Bread"]]) }
      #expect(twins.allSatisfy { $0.status == 201 } && Set(twins.map(\.text)).count == 1)
      #expect(try await alice.titles(list) == ["Bread"])
    }
  }

  @Test(arguments: engines) func statusIsAlsoChangedByAPlainChange(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let id = try await alice.makeTask(list)
      let path = "/api/v1/tasks/\(id)"
      for (status, kinds) in [
        ("in_progress", ["created"]), ("done", ["created", "completed"]), ("done", ["created", "completed"]),
        ("in_progress", ["created", "completed", "reopened"]),
      ] {
        let changed = try await alice.patch(path, ["task": ["status": status]]).object("task")
        #expect(changed.string("status") == status && (changed["completed_at"] is NSNull) == (status != "done"))
        let trail = try await alice.get(path).object("task").objects("audit_trail")
        #expect(trail.map { $0.string("kind") } == kinds)
      }
      let born = try await alice.post(
        "/api/v1/lists/\(list)/tasks", ["task": ["title": "Born done", "status": "done"]])
      #expect(born.object("task").string("status") == "done")
      #expect(try await alice.get("/api/v1/lists/\(list)").object("list").int("completed_tasks_count") == 1)
    }
  }
}
