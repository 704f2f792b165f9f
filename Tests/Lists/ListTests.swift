import Database
import Foundation
import Support
import Testing
import Web

/// Creating, reading, changing and deleting lists, with the permissions of each role.
@Suite struct ListTests {
  @Test(arguments: engines) func aListIsMadeShownChangedAndDeleted(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let made = try await alice.post("/api/v1/lists", ["list": ["name": " New List ", "description": "What for"]])
      #expect(made.status == 201)
      let list = made.object("list")
      let id = try #require(list.int("id"))
      #expect(list.string("name") == "New List" && list.string("description") == "What for")
      #expect(
        list.string("role") == "owner" && list.string("visibility") == "private" && list.string("color") == "blue")
      #expect(list.object("owner").string("email") == "alice@example.com" && list.object("owner").int("id") != nil)
      for count in ["members_count", "tasks_count", "completed_tasks_count", "overdue_tasks_count"] {
        #expect(list.int(count) == 0, "\(count)")
      }
      #expect(list.string("created_at").wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)

      let index = try await alice.get("/api/v1/lists")
      #expect(index.objects("lists").map { $0.int("id") } == [id])
      let changed = try await alice.patch("/api/v1/lists/\(id)", ["list": ["name": "Ours", "color": "green"]])
      #expect(
        changed.object("list").string("name") == "Ours" && changed.object("list").string("description") == "What for")
      let put = try await alice.put("/api/v1/lists/\(id)", ["list": ["description": NSNull()]])
      #expect(put.status == 200 && put.object("list")["description"] is NSNull)
      #expect(try await alice.get("/api/v1/lists/\(id)/").object("list").string("color") == "green")

      #expect(try await alice.delete("/api/v1/lists/\(id)").status == 204)
      #expect(try await alice.get("/api/v1/lists/\(id)").status == 404)
      #expect(try await alice.delete("/api/v1/lists/\(id)").status == 404)
      #expect(try await alice.get("/api/v1/lists").objects("lists").isEmpty)
    }
  }

  /// Few lists are encoded on the event loop, many outside of it; the responses are the same.
  @Test(arguments: engines) func manyListsAreShownAsFewAre(engine: Engine) async throws {
    try await withStack(engine, ["RATE_LIMIT_USER": "1000"]) { stack in
      let (alice, bob) = (try await stack.signIn("alice").browser, try await stack.signIn("bob").browser)
      let shared = try await bob.makeList()
      try await bob.share(shared, with: "alice")
      _ = try await bob.post(
        "/api/v1/lists/\(shared)/tasks", ["task": ["title": "Late", "due_at": "2020-01-01T00:00:00Z"]])
      var ids = [shared]
      for count in [3, 60] {
        while ids.count < count { ids.append(try await alice.makeList()) }
        let late = ids.suffix(2)
        for id in late {
          let task = ["title": "Late", "due_at": "2020-01-01T00:00:00Z"]
          #expect(try await alice.post("/api/v1/lists/\(id)/tasks", ["task": task]).status == 201)
        }
        let index = try await alice.get("/api/v1/lists")
        #expect(index.objects("lists").map { $0.int("id") } == ids)
        for list in index.objects("lists") {
          let id = try #require(list.int("id"))
          let one = try await alice.get("/api/v1/lists/\(id)").object("list")
          for field in ["name", "role", "created_at", "updated_at"] { #expect(list.string(field) == one.string(field)) }
          for field in ["members_count", "tasks_count", "overdue_tasks_count", "version"] {
            #expect(list.int(field) == one.int(field), "\(field)")
          }
          #expect(list.int("members_count") == (id == shared ? 1 : 0))
        }
        #expect(
          late.allSatisfy { id in index.objects("lists").first { $0.int("id") == id }?.int("overdue_tasks_count") == 1 }
        )
        #expect(index.objects("lists").first?.int("overdue_tasks_count") == 1)
        let tag = try #require(index.headers.first(name: "etag"))
        #expect(try await alice.with(["If-None-Match": tag]).get("/api/v1/lists").status == 304)
      }
    }
  }

  @Test(arguments: engines) func everybodyDoesWhatTheirRoleAllows(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let (editor, viewer) = (try await stack.signIn("bob").browser, try await stack.signIn("carol").browser)
      let stranger = try await stack.signIn("dave").browser
      let id = try await alice.makeList()
      let task = try await alice.makeTask(id)
      try await alice.share(id, with: "bob")
      try await alice.share(id, with: "carol", as: "viewer")
      let (list, tasks) = ("/api/v1/lists/\(id)", "/api/v1/lists/\(id)/tasks")
      let name: [String: any Sendable] = ["list": ["name": "Ours"]]
      let milk: [String: any Sendable] = ["task": ["title": "Milk"]]
      for (browser, read, write) in [(editor, 200, 200), (viewer, 200, 403), (stranger, 404, 404)] {
        #expect(try await browser.get(list).status == read)
        #expect(try await browser.get(tasks).status == read)
        #expect(try await browser.get("/api/v1/tasks/\(task)").status == read)
        #expect(try await browser.get("\(list)/memberships").status == read)
        #expect(try await browser.patch(list, name).status == write)
        #expect(try await browser.post(tasks, milk).status == (write == 200 ? 201 : write))
        #expect(try await browser.patch("/api/v1/tasks/\(task)", milk).status == write)
        #expect(try await browser.post("/api/v1/tasks/\(task)/complete").status == write)
        #expect(try await browser.post("\(tasks)/reorder", ["tasks": [["id": task, "position": 1]]]).status == write)
        let body: [String: any Sendable] = ["membership": ["user_identifier": "dave@example.com"]]
        if write != 200 { #expect(try await browser.post("\(list)/memberships", body).status == write) }
        #expect(try await browser.delete(list).status == (read == 200 ? 403 : 404))
        if write != 200 { #expect(try await browser.delete("/api/v1/tasks/\(task)").status == write) }
      }
      let shown = try await viewer.get(tasks).objects("tasks").first ?? [:]
      #expect(
        shown.bool("can_edit") == false && shown.bool("can_delete") == false && shown.bool("can_reassign") == false)
      #expect(try await viewer.get(list).object("list").string("role") == "viewer")
      #expect(try await alice.get(list).object("list").int("members_count") == 2)
      #expect(try await stack.gateway.get(list).status == 401)
    }
  }

  @Test(arguments: engines) func badInputNamesEveryField(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let long = String(repeating: "x", count: 1001)
      let cases: [([String: any Sendable], [String])] = [
        (["name": ""], ["name"]), (["name": "   "], ["name"]), ([:], ["name"]), (["name": NSNull()], ["name"]),
        (["name": long.prefix(256).description], ["name"]), (["name": 7], ["name"]),
        (["name": "x", "description": long], ["description"]), (["name": "x", "visibility": "secret"], ["visibility"]),
        (["name": "", "description": 7, "color": long], ["color", "description", "name"]),
      ]
      for (list, faults) in cases {
        let reply = try await alice.post("/api/v1/lists", ["list": list])
        #expect(reply.status == 422 && reply.faults == faults, "\(list)")
        #expect(reply.object("error").string("code") == "validation_error")
      }
      let names = [String(repeating: "é", count: 255), "x"]
      for name in names { _ = try await alice.makeList(name) }
      let rootless = try await alice.post("/api/v1/lists", ["name": "x"])
      #expect(rootless.status == 400 && rootless.string("code") == "parameter_missing")
      #expect(try await alice.send(.POST, "/api/v1/lists", body: Data("{".utf8)).status == 400)
      #expect(try await alice.post("/api/v1/lists", ["list": "x"]).status == 422)
      #expect(try await alice.post("/api/v1/lists", ["list": ["name": "a\u{0}b"]]).status == 422)
      for path in ["/api/v1/lists/x", "/api/v1/lists/0", "/api/v1/lists/-1", "/api/v1/lists/99999999999999999999"] {
        #expect(try await alice.get(path).status == 404, "\(path)")
      }
    }
  }

  @Test(arguments: engines) func whoChangesAnOldVersionIsTold(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let id = try await alice.makeList()
      let path = "/api/v1/lists/\(id)"
      let first = try await alice.get(path).tag
      #expect(try await alice.with(["If-None-Match": first]).get(path).status == 304)
      // A change of a task is not a change of the list.
      _ = try await alice.makeTask(id)
      #expect(try await alice.with(["If-None-Match": first]).get(path).status == 200)
      let changed = try await alice.with(["If-Match": first]).patch(path, ["list": ["name": "Ours"]])
      #expect(changed.status == 200 && !changed.tag.isEmpty && changed.tag != first)
      let late = try await alice.with(["If-Match": first]).patch(path, ["list": ["name": "Mine"]])
      #expect(late.status == 412 && late.string("code") == "precondition_failed")
      #expect(try await alice.with(["If-Match": first]).delete(path).status == 412)
      #expect(try await alice.with(["If-Match": "W/\(changed.tag)"]).delete(path).status == 412)
      #expect(try await alice.get(path).object("list").string("name") == "Ours")
      let both = "\"x\", \(changed.tag)"
      #expect(try await alice.with(["If-Match": both]).patch(path, ["list": ["name": "Third"]]).status == 200)
      #expect(try await alice.with(["If-Match": "*"]).delete(path).status == 204)
    }
  }

  @Test(arguments: engines) func aRepeatedCreateUnderOneKeyIsOneList(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser.with(["Idempotency-Key": "k1"])
      let replies = try await atOnce(20) { _ in try await alice.post("/api/v1/lists", ["list": ["name": "Once"]]) }
      #expect(replies.allSatisfy { $0.status == 201 } && Set(replies.map(\.text)).count == 1)
      #expect(try await alice.get("/api/v1/lists").objects("lists").count == 1)
      let other = try await alice.post("/api/v1/lists", ["list": ["name": "Twice"]])
      #expect(other.status == 422 && other.string("code") == "idempotency_key_reused")
      let id = try #require(replies[0].object("list").int("id"))
      #expect(try await alice.delete("/api/v1/lists/\(id)").status == 204)
      let again = try await alice.delete("/api/v1/lists/\(id)")
      #expect(again.status == 204 && again.headers.first(name: "idempotency-hit") == "true")
    }
  }
}
