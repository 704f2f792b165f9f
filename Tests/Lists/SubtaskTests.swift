import Database
import Foundation
import Support
import Testing

@testable import Lists

/// Sub-tasks, and tags of tasks.
@Suite struct SubtaskTests {
  @Test(arguments: engines) func aTaskHasParts(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let task = try await alice.makeTask(list, "Party")
      for path in ["/api/v1/tasks/\(task)/subtasks", "/api/v1/lists/\(list)/tasks/\(task)/subtasks"] {
        let made = try await alice.post(path, ["subtask": ["title": "Cake"]])
        #expect(made.status == 201 && made.object("subtask").int("parent_task_id") == task)
        let id = try #require(made.object("subtask").int("id"))
        #expect(try await alice.get("\(path)/\(id)").object("subtask").string("title") == "Cake")
        #expect(
          try await alice.put("\(path)/\(id)", ["subtask": ["title": "Pie"]]).object("subtask").string("title") == "Pie"
        )
        #expect(try await alice.post("\(path)/\(id)/complete").object("subtask").string("status") == "done")
        let parent = try await alice.get("/api/v1/tasks/\(task)").object("task")
        #expect(parent.objects("subtasks").map { $0.string("title") } == ["Pie"])
        #expect(parent.int("subtasks_count") == 1 && parent.int("subtasks_completed_count") == 1)
        #expect(parent.int("subtask_completion_percentage") == 100 && parent.bool("has_subtasks") == true)
        #expect(try await alice.patch("\(path)/\(id)/reopen").object("subtask").string("status") == "pending")
        #expect(try await alice.delete("\(path)/\(id)").status == 204)
        #expect(try await alice.get(path).objects("subtasks").isEmpty)
      }
      // Sub-tasks are not counted on the list, and not listed by themselves.
      let shown = try await alice.get("/api/v1/lists/\(list)").object("list")
      #expect(shown.int("tasks_count") == 1 && shown.int("completed_tasks_count") == 0)
      #expect(try await alice.titles(list) == ["Party"])
    }
  }

  @Test(arguments: engines) func partsAreWhereTheyBelong(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await stack.signIn("bob").browser
      let list = try await alice.makeList()
      try await alice.share(list, with: "bob", as: "viewer")
      let (task, other) = (try await alice.makeTask(list, "Party"), try await alice.makeTask(list, "Work"))
      let path = "/api/v1/tasks/\(task)/subtasks"
      let body: [String: any Sendable] = ["subtask": ["title": "Cake", "client_id": "c1"]]
      let part = try #require(try await alice.post(path, body).object("subtask").int("id"))
      let again = try await alice.post(path, body)
      #expect(again.status == 200 && again.object("subtask").int("id") == part)
      // A `client_id` identifies one task: it cannot be used for another parent, or for a task without one.
      let whole: [String: any Sendable] = ["task": ["title": "Cake", "client_id": "c1"]]
      for (path, body) in [("/api/v1/tasks/\(other)/subtasks", body), ("/api/v1/lists/\(list)/tasks", whole)] {
        let taken = try await alice.post(path, body)
        #expect(taken.status == 409 && taken.string("code") == "client_id_taken")
      }
      #expect(try await alice.get("/api/v1/tasks/\(other)/subtasks/\(part)").status == 404)
      #expect(try await alice.post("/api/v1/tasks/\(part)/subtasks", body).faults == ["parent_task_id"])
      #expect(try await alice.post(path, ["subtask": ["title": ""]]).faults == ["title"])
      #expect(try await alice.post(path, ["title": "x"]).status == 400)
      #expect(try await bob.get(path).objects("subtasks").count == 1)
      #expect(try await bob.post(path, body).status == 403)
      #expect(try await bob.delete("\(path)/\(part)").status == 403)
      // A change of a sub-task changes the version of its parent, and it is deleted with its parent.
      let before = try await alice.get("/api/v1/tasks/\(task)").tag
      _ = try await alice.post("\(path)/\(part)/complete")
      #expect(try await alice.with(["If-Match": before]).delete("/api/v1/tasks/\(task)").status == 412)
      #expect(try await alice.delete("/api/v1/tasks/\(task)").status == 200)
      #expect(try await alice.get("/api/v1/tasks/\(part)").status == 404)
    }
  }

  @Test(arguments: engines) func aListHasOnlySoManyPartsInAll(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let (task, other) = (try await alice.makeTask(list, "Party"), try await alice.makeTask(list, "Work"))
      @Sendable func add(to task: Int) async throws -> Browser.Reply {
        try await alice.post("/api/v1/tasks/\(task)/subtasks", ["subtask": ["title": "Cake"]])
      }
      let database = try await stack.testDatabase.open("lists", [])
      func counted() async throws -> Int? {
        try await database.read {
          try $0.row("select subtask_count from list where id = \(list)")?.get("subtask_count")
        }
      }
      let part = try #require(try await add(to: task).object("subtask").int("id"))
      for _ in 0..<2 { _ = try await add(to: other) }
      #expect(try await counted() == 3)
      // Simulates many more.
      try await database.write { db in
        try db.change("update list set subtask_count = \(List.subtasksMax - 2) where id = \(list)")
      }
      let replies = try await atOnce(10) { index in try await add(to: index.isMultiple(of: 2) ? task : other) }
      #expect(replies.count { $0.status == 201 } == 2)
      #expect(replies.count { $0.status == 409 && $0.string("code") == "list_full" } == 8)
      // Deleting a sub-task, or a task with its sub-tasks, makes room.
      #expect(try await alice.delete("/api/v1/tasks/\(task)/subtasks/\(part)").status == 204)
      #expect(try await counted() == List.subtasksMax - 1)
      let left = try await alice.get("/api/v1/tasks/\(other)/subtasks").objects("subtasks").count
      #expect(try await alice.delete("/api/v1/tasks/\(other)").status == 200)
      #expect(try await counted() == List.subtasksMax - 1 - left)
      #expect(try await add(to: task).status == 201)
      await database.close()
    }
  }

  @Test(arguments: engines) func tagsAreTheirOwnersWordsForTasks(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await stack.signIn("bob").browser
      let list = try await alice.makeList()
      try await alice.share(list, with: "bob")
      let made = try await alice.post("/api/v1/tags", ["tag": ["name": "Errands", "color": "red"]])
      #expect(made.status == 201 && made.object("tag").string("name") == "Errands")
      let tag = try #require(made.object("tag").int("id"))
      #expect(try await alice.post("/api/v1/tags", ["tag": ["name": "eRRANDS"]]).faults == ["name"])
      #expect(
        try await alice.post("/api/v1/tags", ["tag": ["name": String(repeating: "x", count: 51)]]).faults == ["name"])
      #expect(try await bob.post("/api/v1/tags", ["tag": ["name": "Errands"]]).status == 201)
      for status in try await [
        bob.get("/api/v1/tags/\(tag)").status, bob.patch("/api/v1/tags/\(tag)", ["tag": ["name": "x"]]).status,
        bob.delete("/api/v1/tags/\(tag)").status,
      ] { #expect(status == 404) }

      let task = try await alice.makeTask(list, "Milk", ["tag_ids": [tag]])
      let path = "/api/v1/tasks/\(task)"
      #expect(try await bob.get(path).object("task").objects("tags").map { $0.string("name") } == ["Errands"])
      // Bob adds his own tag and keeps hers; he cannot add hers where it is not set.
      let own = try #require(try await bob.get("/api/v1/tags").objects("tags").first?.int("id"))
      let both = try await bob.patch(path, ["task": ["tag_ids": [tag, own]]])
      #expect(both.object("task").objects("tags").count == 2)
      #expect(try await bob.patch(path, ["task": ["tag_ids": [own]]]).object("task").objects("tags").count == 1)
      #expect(try await bob.patch(path, ["task": ["tag_ids": [tag]]]).faults == ["tag_ids"])

      #expect(try await alice.patch(path, ["task": ["tag_ids": [tag]]]).status == 200)
      let before = try await bob.get("/api/v1/lists/\(list)/tasks").string("cursor")
      let renamed = try await alice.put("/api/v1/tags/\(tag)", ["tag": ["name": "Shopping"]])
      #expect(renamed.object("tag").string("color") == "red")
      let news = try await bob.get("/api/v1/lists/\(list)/tasks?since=\(before)").objects("tasks")
      #expect(news.first?.objects("tags").first?.string("name") == "Shopping")
      #expect(try await bob.get("/api/v1/tasks?tag_id=\(tag)").objects("tasks").count == 1)
      #expect(try await alice.delete("/api/v1/tags/\(tag)").status == 204)
      #expect(try await bob.get(path).object("task").objects("tags").isEmpty)
    }
  }
}
