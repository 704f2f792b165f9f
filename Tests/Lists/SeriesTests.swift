import Database
import Foundation
import Support
import Testing
import Wire

@testable import Lists

/// Completing a recurring task creates the next one.
@Suite struct SeriesTests {
  private func daily(_ due: Date) -> [String: any Sendable] {
    ["due_at": RFC3339.milliseconds(due), "strict_mode": false, "recurrence_pattern": "daily"]
  }

  @Test(arguments: engines) func whatIsDoneComesAgainWithItsPartsAndTags(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice").browser, try await stack.signIn("bob").browser)
      let list = try await alice.makeList()
      try await alice.share(list, with: "bob")
      let due = stack.clock.now + 3600
      let tag = try await alice.post("/api/v1/tags", ["tag": ["name": "Home"]]).read(ListsApp.Tag.self, 201).id
      let more: [String: any Sendable] = [
        "tag_ids": [tag], "note": "All of them", "priority": 2, "color": "teal", "client_id": "c1",
        "location_name": "Garden",
      ]
      let id = try await alice.makeTask(list, "Plants", daily(due).merging(more) { $1 })
      _ = try await alice.makeTask(list, "Last")
      let path = "/api/v1/tasks/\(id)"
      let part: [String: any Sendable] = [
        "title": "Roses", "due_at": RFC3339.milliseconds(due - 600), "tag_ids": [tag],
      ]
      let roses = try await alice.post("\(path)/subtasks", body("subtask", part))
        .read(ListsApp.OneSubtask.self, 201).subtask
      _ = try await alice.post("\(path)/subtasks", ["subtask": ["title": "Ferns"]])
      let gone =
        try await alice.post("\(path)/subtasks", ["subtask": ["title": "Gone"]]).object("subtask").int("id") ?? 0
      #expect(try await alice.delete("\(path)/subtasks/\(gone)").status == 204)
      _ = try await alice.post("\(path)/subtasks/\(roses.id)/complete")
      _ = try await alice.post("\(path)/assign", ["assigned_to": "bob@example.com"])
      let cursor = try await bob.get("/api/v1/lists/\(list)/tasks").string("cursor")

      #expect(try await bob.post("\(path)/complete").status == 200)
      let reply = try await alice.get("/api/v1/lists/\(list)/tasks?since=\(cursor)")
      let next = try #require(try reply.read(ListsApp.Tasks.self).tasks.first { $0.id != id })
      #expect(next.title == "Plants" && next.note == "All of them" && next.priority == 2 && next.color == "teal")
      #expect(next.status == "pending" && next.completed_at == nil && next.location_name == "Garden")
      #expect(next.due_at == RFC3339.milliseconds(due + 86_400) && next.instance_number == 2)
      #expect(next.template_id == id && next.is_recurring == true && next.tags?.map(\.id) == [tag])
      #expect(next.subtasks?.map(\.title) == ["Roses", "Ferns"] && next.creator?.name == "alice")
      #expect(next.subtasks?.allSatisfy { $0.status == "pending" && $0.parent_task_id == next.id } == true)
      let raw = try #require(reply.objects("tasks").first { $0.int("id") == next.id })
      #expect(raw["client_id"] is NSNull && raw.object("assigned_to").string("name") == "bob")
      #expect(raw.objects("subtasks").first?.string("due_at") == RFC3339.milliseconds(due - 600 + 86_400))
      let copied = try await alice.get("/api/v1/tasks/\(raw.objects("subtasks").first?.int("id") ?? 0)")
      #expect(try copied.read(ListsApp.OneTask.self).task.tags?.map(\.id) == [tag])
      let trail = try await alice.get("/api/v1/tasks/\(next.id)").object("task").objects("audit_trail")
      #expect(trail.map { $0.string("kind") } == ["created"])
      // It has the same position, and the list counts it and its sub-tasks.
      #expect(try await alice.titles(list) == ["Plants", "Plants", "Last"])
      let shown = try await alice.get("/api/v1/lists/\(list)").read(ListsApp.OneList.self).list
      #expect(shown.tasks_count == 3 && shown.completed_tasks_count == 1)
      // The third task has the same template.
      #expect(try await alice.post("/api/v1/tasks/\(next.id)/complete").status == 200)
      let third = try await alice.get("/api/v1/lists/\(list)/tasks").read(ListsApp.Tasks.self).tasks.first {
        $0.instance_number == 3
      }
      #expect(third?.template_id == id && third?.due_at == RFC3339.milliseconds(due + 2 * 86_400))
    }
  }

  @Test(arguments: engines) func manyWhoCompleteItAtOnceMakeOne(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice").browser, try await stack.signIn("bob").browser)
      let list = try await alice.makeList()
      try await alice.share(list, with: "bob")
      let id = try await alice.makeTask(list, "Plants", daily(stack.clock.now + 3600))
      let statuses = try await atOnce(30) { index in
        let browser = index.isMultiple(of: 2) ? alice : bob
        switch index % 3 {
        case 0: return try await browser.post("/api/v1/tasks/\(id)/complete").status
        case 1: return try await browser.put("/api/v1/tasks/\(id)", body("task", ["status": "done"])).status
        default: return try await browser.post("/api/v1/tasks/\(id)/reopen").status
        }
      }
      #expect(statuses.allSatisfy { $0 == 200 })
      let keyed = alice.with(["Idempotency-Key": "k1"])
      for _ in 0..<2 { #expect(try await keyed.post("/api/v1/tasks/\(id)/complete").status == 200) }
      for action in ["reopen", "complete"] {
        #expect(try await bob.post("/api/v1/tasks/\(id)/\(action)").status == 200)
      }
      #expect(try await alice.titles(list) == ["Plants", "Plants"])
      #expect(try await alice.get("/api/v1/lists/\(list)").read(ListsApp.OneList.self).list.tasks_count == 2)
    }
  }

  @Test(arguments: engines) func aMoveIsOfThisTaskAndAChangeOfTheSeries(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let due = stack.clock.now + 3600
      func next(after id: Int) async throws -> ListsApp.Task {
        #expect(try await alice.post("/api/v1/tasks/\(id)/complete").status == 200)
        let tasks = try await alice.get("/api/v1/lists/\(list)/tasks").read(ListsApp.Tasks.self).tasks
        return try #require(tasks.max { $0.id < $1.id })
      }
      let id = try await alice.makeTask(list, "Plants", daily(due))
      let later = RFC3339.milliseconds(due + 7200)
      #expect(try await alice.post("/api/v1/tasks/\(id)/reschedule", ["due_at": later]).status == 200)
      let second = try await next(after: id)
      #expect(second.due_at == RFC3339.milliseconds(due + 86_400))
      let change: [String: any Sendable] = [
        "due_at": RFC3339.milliseconds(due + 86_400 + 60), "is_recurring": true, "recurrence_pattern": "daily",
      ]
      #expect(try await alice.put("/api/v1/tasks/\(second.id)", body("task", change)).status == 200)
      let third = try await next(after: second.id)
      #expect(third.due_at == RFC3339.milliseconds(due + 2 * 86_400 + 60) && third.instance_number == 3)
      // The end of a series, and a task whose recurrence is switched off.
      #expect(try await alice.put("/api/v1/tasks/\(third.id)", body("task", ["recurrence_count": 4])).status == 200)
      let fourth = try await next(after: third.id)
      #expect(fourth.instance_number == 4)
      #expect(try await next(after: fourth.id).id == fourth.id)
      let other = try await alice.makeTask(list, "Once", daily(due))
      #expect(try await alice.put("/api/v1/tasks/\(other)", body("task", ["is_recurring": false])).status == 200)
      #expect(try await next(after: other).id == other)
      // A task that is created as completed has a successor too; without a due date the successor has none.
      let made = try await alice.makeTask(list, "Done", ["recurrence_pattern": "daily", "status": "done"])
      let last = try #require(
        try await alice.get("/api/v1/lists/\(list)/tasks").read(ListsApp.Tasks.self).tasks.max { $0.id < $1.id })
      #expect(last.id != made && last.title == "Done" && last.status == "pending" && last.due_at == nil)
      let part: [String: any Sendable] = ["title": "Part", "parent_task_id": last.id, "recurrence_pattern": "daily"]
      #expect(
        try await alice.post("/api/v1/lists/\(list)/tasks", body("task", part)).faults == ["is_recurring"])
    }
  }

  @Test(arguments: engines) func whereTheListIsFullTheSeriesDoesNotEndUnnoticed(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let id = try await alice.makeTask(list, "Plants", daily(stack.clock.now + 3600))
      let database = try await stack.testDatabase.open("lists", [])
      func count(_ tasks: Int) async throws {
        try await database.write { db in try db.change("update list set task_count = \(tasks) where id = \(list)") }
      }
      try await count(List.tasksMax)
      let full = try await alice.post("/api/v1/tasks/\(id)/complete")
      #expect(full.status == 409 && full.string("code") == "list_full")
      #expect(try await alice.get("/api/v1/tasks/\(id)").object("task").string("status") == "pending")
      try await count(List.tasksMax - 1)
      #expect(try await alice.post("/api/v1/tasks/\(id)/complete").status == 200)
      // Completing it again creates no task, so the full list is no error.
      for action in ["reopen", "complete"] {
        #expect(try await alice.post("/api/v1/tasks/\(id)/\(action)").status == 200)
      }
      await database.close()
    }
  }

  @Test(arguments: engines) func aSeriesRunsByTheClocksOfWhoSetItUp(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice").browser, try await stack.signIn("bob").browser)
      #expect(try await alice.patch("/api/v1/users/profile", ["user": ["timezone": "Europe/Oslo"]]).status == 200)
      let list = try await alice.makeList()
      try await alice.share(list, with: "bob")
      // The day before Oslo's clocks go forward, in the future.
      let sent: [String: any Sendable] = [
        "due_at": "2032-03-27T08:00:00+01:00", "strict_mode": false, "recurrence_pattern": "daily",
        "recurrence_end_date": "2032-03-28T22:30:00Z",
      ]
      let id = try await alice.makeTask(list, "Plants", sent)
      // 22:30 in UTC is the next day in Oslo.
      #expect(
        try await alice.get("/api/v1/tasks/\(id)").read(ListsApp.OneTask.self).task.recurrence_end_date == "2032-03-29")
      #expect(try await bob.post("/api/v1/tasks/\(id)/complete").status == 200)
      let tasks = try await bob.get("/api/v1/lists/\(list)/tasks").read(ListsApp.Tasks.self).tasks
      #expect(tasks.map(\.due_at) == ["2032-03-27T07:00:00.000Z", "2032-03-28T06:00:00.000Z"])
    }
  }
}
