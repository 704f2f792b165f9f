import Database
import Foundation
import Support
import Testing
import Wire

/// Responses decode as the types of the iOS app, and values that the app sends are returned unchanged.
@Suite struct AppDecodingTests {
  @Test(arguments: engines) func listsAreReadAsTheyAreWritten(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let tag = try await alice.post("/api/v1/tags", body("tag", ["name": "Home", "color": "red"])).read(
        ListsApp.Tag.self, 201)
      let sent: [String: any Sendable] = [
        "name": "Groceries", "description": "Weekly", "visibility": "shared", "color": "green",
        "list_type": "shopping", "tag_ids": [tag.id],
      ]
      let made = try await alice.post("/api/v1/lists", body("list", sent)).read(ListsApp.OneList.self, 201).list
      #expect(made.list_type == "shopping" && made.tags?.map(\.name) == ["Home"] && made.color == "green")
      #expect(made.visibility == "shared" && made.description == "Weekly" && made.user?.name == "alice")
      let path = "/api/v1/lists/\(made.id)"
      _ = try await alice.makeTask(made.id)
      let index = try await alice.get("/api/v1/lists").read(ListsApp.Lists.self)
      let (first, shown) = (try #require(index.lists.first), try await alice.get(path).read(ListsApp.OneList.self).list)
      for list in [first, shown] {
        #expect(list.list_type == "shopping" && list.tags?.map(\.id) == [tag.id] && list.parent_tasks_count == 1)
      }
      let cursor = try await alice.get("/api/v1/lists").string("cursor")
      let put = try await alice.put(path, body("list", ["name": "Food", "list_type": NSNull(), "tag_ids": [Int]()]))
      let changed = try put.read(ListsApp.OneList.self).list
      #expect(changed.name == "Food" && changed.list_type == nil && changed.tags?.isEmpty == true)
      #expect(changed.color == "green")
      let news = try await alice.get("/api/v1/lists?since=\(cursor)").read(ListsApp.Lists.self)
      #expect(news.lists.map(\.name) == ["Food"])
      #expect(try await alice.delete(path).status == 204)
      let gone = try await alice.get("/api/v1/lists?since=\(cursor)")
      #expect(try gone.read(ListsApp.Lists.self).tombstones == ["\(made.id)"])
      #expect(gone.objects("deleted").first?.int("id") == made.id)
      for wrong: [String: any Sendable] in [["list_type": 7], ["list_type": String(repeating: "x", count: 51)]] {
        let name = ["name": "x"] as [String: any Sendable]
        #expect(try await alice.post("/api/v1/lists", body("list", name.merging(wrong) { $1 })).faults == ["list_type"])
      }
    }
  }

  /// As for tasks: members see each other's tags on a list, but can only add their own.
  @Test(arguments: engines) func tagsOfListsAreTheirOwners(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice").browser, try await stack.signIn("bob").browser)
      let list = try await alice.makeList()
      let path = "/api/v1/lists/\(list)"
      let membership = try await alice.share(list, with: "bob")
      let hers = try await alice.post("/api/v1/tags", ["tag": ["name": "Hers"]]).read(ListsApp.Tag.self, 201).id
      let his = try await bob.post("/api/v1/tags", ["tag": ["name": "His"]]).read(ListsApp.Tag.self, 201).id
      #expect(try await bob.patch(path, body("list", ["tag_ids": [hers]])).faults == ["tag_ids"])
      #expect(try await alice.patch(path, body("list", ["tag_ids": [hers]])).status == 200)
      let both = try await bob.patch(path, body("list", ["tag_ids": [hers, his]])).read(ListsApp.OneList.self).list
      #expect(both.tags?.map(\.name) == ["Hers", "His"])
      let before = try await bob.get("/api/v1/lists")
      #expect(try await alice.put("/api/v1/tags/\(hers)", ["tag": ["name": "Ours"]]).status == 200)
      let news = try await bob.get("/api/v1/lists?since=\(before.string("cursor"))").read(ListsApp.Lists.self)
      #expect(news.lists.first?.tags?.map(\.name) == ["His", "Ours"])
      // The tags of a member who has left are removed.
      #expect(try await bob.delete("\(path)/memberships/\(membership)").status == 204)
      #expect(try await alice.get(path).read(ListsApp.OneList.self).list.tags?.map(\.name) == ["Ours"])
      #expect(try await alice.delete("/api/v1/tags/\(hers)").status == 204)
      #expect(try await alice.get("/api/v1/lists").read(ListsApp.Lists.self).lists.first?.tags?.isEmpty == true)
    }
  }

  private static let everything: [String: any Sendable] = [
    "title": "Water the plants", "note": "All of them", "due_at": "2030-01-02T09:00:00+01:00", "color": "teal",
    "priority": 3, "starred": true, "hidden": true, "is_recurring": true, "recurrence_pattern": "weekly",
    "recurrence_interval": 2, "recurrence_days": [1, 3], "recurrence_end_date": "2031-06-30", "recurrence_count": 9,
    "location_based": true, "location_name": "Garden", "location_latitude": 59.9139, "location_longitude": 10,
    "location_radius_meters": 150, "notify_on_arrival": true, "notify_on_departure": false,
    "notification_interval_minutes": 15, "requires_explanation_if_missed": true,
  ]

  private func expectEverything(_ task: ListsApp.Task) {
    #expect(task.title == "Water the plants" && task.note == "All of them" && task.color == "teal")
    #expect(task.due_at == "2030-01-02T08:00:00.000Z" && task.priority == 3 && task.starred == true)
    #expect(task.hidden == true && task.is_recurring == true && task.recurrence_pattern == "weekly")
    #expect(task.recurrence_interval == 2 && task.recurrence_days == [1, 3] && task.recurrence_count == 9)
    #expect(task.recurrence_end_date == "2031-06-30" && task.instance_date == "2030-01-02")
    #expect(task.instance_number == 1 && task.template_id == nil)
    #expect(task.location_based == true && task.location_name == "Garden" && task.location_radius_meters == 150)
    #expect(task.location_latitude == 59.9139 && task.location_longitude == 10)
    #expect(task.notify_on_arrival == true && task.notify_on_departure == false)
    #expect(task.notification_interval_minutes == 15 && task.requires_explanation_if_missed == true)
    #expect(task.has_subtasks == false && task.subtasks_count == 0 && task.minutes_overdue == 0)
    #expect(task.reschedule_events?.isEmpty == true && task.creator?.name == "alice" && task.can_edit == true)
  }

  @Test(arguments: engines) func tasksAreReadAsTheyAreWritten(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let tasks = "/api/v1/lists/\(list)/tasks"
      let made = try await alice.post(tasks, body("task", Self.everything)).read(ListsApp.OneTask.self, 201).task
      expectEverything(made)
      let path = "/api/v1/tasks/\(made.id)"
      for path in [path, "\(tasks)/\(made.id)"] {
        expectEverything(try await alice.get(path).read(ListsApp.OneTask.self).task)
      }
      for index in [tasks, "/api/v1/tasks", "/api/v1/tasks/search?q=garden"] {
        expectEverything(try #require(try await alice.get(index).read(ListsApp.Tasks.self).tasks.first))
      }
      // A PUT with all fields leaves the task unchanged.
      let put = try await alice.put(path, body("task", Self.everything)).read(ListsApp.OneTask.self).task
      expectEverything(put)
      let less: [String: any Sendable] = [
        "color": NSNull(), "hidden": false, "is_recurring": false, "recurrence_pattern": NSNull(),
        "recurrence_interval": NSNull(), "recurrence_days": NSNull(), "recurrence_end_date": NSNull(),
        "recurrence_count": NSNull(), "location_based": false, "location_name": NSNull(),
        "location_latitude": NSNull(), "location_longitude": NSNull(), "location_radius_meters": NSNull(),
        "notification_interval_minutes": NSNull(), "requires_explanation_if_missed": false,
      ]
      let bare = try await alice.put(path, body("task", less)).read(ListsApp.OneTask.self).task
      #expect(bare.color == "blue" && bare.hidden == false && bare.is_recurring == false)
      #expect(bare.recurrence_pattern == nil && bare.recurrence_days == nil && bare.recurrence_end_date == nil)
      #expect(bare.location_name == nil && bare.location_latitude == nil && bare.note == "All of them")
      let cursor = try await alice.get(tasks).string("cursor")
      #expect(try await alice.delete(path).status == 200)
      let news = try await alice.get("\(tasks)?since=\(cursor)")
      #expect(try news.read(ListsApp.Tasks.self).tombstones == ["\(made.id)"])
    }
  }

  @Test(arguments: engines) func everythingThatIsWrongIsNamedAtOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let path = "/api/v1/lists/\(list)/tasks"
      let wrong: [String: any Sendable] = [
        "title": "", "due_at": "2026-01-01T00:00:00+25:00", "hidden": "no", "is_recurring": 1,
        "recurrence_pattern": "hourly", "recurrence_interval": 0, "recurrence_days": [32],
        "recurrence_end_date": "2026-02-30", "recurrence_count": 0, "location_latitude": 91,
        "location_longitude": "east", "location_radius_meters": -1, "notification_interval_minutes": 1.5,
        "location_name": String(repeating: "x", count: 256), "color": String(repeating: "x", count: 33),
        "parent_task_id": "1", "requires_explanation_if_missed": NSNull(),
      ]
      #expect(try await alice.post(path, body("task", wrong)).faults == wrong.keys.sorted())
      for (task, faults) in [
        (["is_recurring": true], ["recurrence_pattern"]),
        (["recurrence_pattern": "weekly", "recurrence_days": [8]], ["recurrence_days"]),
        (["recurrence_pattern": "monthly", "recurrence_days": [0]], ["recurrence_days"]),
        (["parent_task_id": 999_999], ["parent_task_id"]),
      ] as [([String: any Sendable], [String])] {
        let title = ["title": "x"] as [String: any Sendable]
        #expect(try await alice.post(path, body("task", title.merging(task) { $1 })).faults == faults, "\(task)")
      }
      #expect(try await alice.titles(list).isEmpty)
      let task = try await alice.makeTask(list)
      let late: [String: any Sendable] = ["reason": String(repeating: "x", count: 1001)]
      #expect(try await alice.post("/api/v1/tasks/\(task)/reschedule", late).faults == ["due_at", "reason"])
      let query = "/api/v1/tasks?page=0&per_page=51&status=lost&assigned_to=nobody&priority=9"
      #expect(
        try await alice.get(query).faults == ["assigned_to", "page", "per_page", "priority", "status"])
    }
  }

  @Test(arguments: engines) func subtasksTagsAndMembersAreRead(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, _) = (try await stack.signIn("alice").browser, try await stack.signIn("bob"))
      let list = try await alice.makeList()
      let task = try await alice.makeTask(list, "Party")
      let tasks = "/api/v1/lists/\(list)/tasks"
      let parts = "\(tasks)/\(task)/subtasks"
      let cake = try await alice.post(parts, ["subtask": ["title": "Cake"]]).read(ListsApp.OneSubtask.self, 201).subtask
      // A sub-task can be created as a task with a parent.
      let part: [String: any Sendable] = ["title": "Candles", "parent_task_id": task]
      let candles = try await alice.post(tasks, body("task", part)).read(ListsApp.OneTask.self, 201).task
      #expect(candles.parent_task_id == task)
      #expect(try await alice.get(parts).read(ListsApp.Subtasks.self).subtasks.map(\.title) == ["Cake", "Candles"])
      let done = try await alice.patch("\(parts)/\(cake.id)/complete").read(ListsApp.OneSubtask.self).subtask
      #expect(done.status == "done" && done.completed_at != nil && done.parent_task_id == task)
      #expect(
        try await alice.put("\(parts)/\(cake.id)", ["subtask": ["title": "Pie"]]).read(ListsApp.OneSubtask.self).subtask
          .title == "Pie")
      let whole = try await alice.get("/api/v1/tasks/\(task)").read(ListsApp.OneTask.self).task
      #expect(whole.has_subtasks == true && whole.subtasks_count == 2 && whole.subtasks_completed_count == 1)
      #expect(whole.subtask_completion_percentage == 50 && whole.subtasks?.count == 2)
      #expect(try await alice.get("/api/v1/lists/\(list)").read(ListsApp.OneList.self).list.parent_tasks_count == 1)
      // The parent cannot be changed, and a sub-task cannot have sub-tasks.
      for (id, parent) in [(candles.id, 999_999), (task, candles.id)] {
        let move = body("task", ["parent_task_id": parent])
        #expect(try await alice.patch("/api/v1/tasks/\(id)", move).faults == ["parent_task_id"])
      }
      #expect(try await alice.put("/api/v1/tasks/\(candles.id)", body("task", part)).status == 200)
      let deeper: [String: any Sendable] = ["title": "Wick", "parent_task_id": candles.id]
      #expect(try await alice.post(tasks, body("task", deeper)).faults == ["parent_task_id"])
      let elsewhere = try await alice.makeList("Other")
      #expect(try await alice.post("/api/v1/lists/\(elsewhere)/tasks", body("task", part)).faults == ["parent_task_id"])

      let made = try await alice.post("/api/v1/tags", ["tag": ["name": "Errands", "color": "red"]])
      let tag = try made.read(ListsApp.Tag.self, 201)
      #expect(tag.name == "Errands" && tag.color == "red" && tag.tasks_count == 0 && tag.created_at != nil)
      #expect(try made.read(ListsApp.OneTag.self, 201).tag.id == tag.id)
      _ = try await alice.patch("/api/v1/tasks/\(task)", body("task", ["tag_ids": [tag.id]]))
      #expect(try await alice.get("/api/v1/tags").read(ListsApp.Tags.self).tags.map(\.tasks_count) == [1])
      for reply in [
        try await alice.put("/api/v1/tags/\(tag.id)", ["tag": ["name": "Shopping"]]),
        try await alice.get("/api/v1/tags/\(tag.id)"),
      ] {
        #expect(try reply.read(ListsApp.Tag.self).name == "Shopping")
        #expect(try reply.read(ListsApp.OneTag.self).tag.tasks_count == 1)
      }

      let members = "/api/v1/lists/\(list)/memberships"
      let member = try await alice.share(list, with: "bob", as: "viewer")
      let promoted = try await alice.put("\(members)/\(member)", ["membership": ["role": "editor"]])
      #expect(try promoted.read(ListsApp.OneMembership.self).membership.role == "editor")
      #expect(try await alice.get(members).read(ListsApp.Memberships.self).memberships.map(\.user.name) == ["bob"])
      let shared = try await alice.get("/api/v1/lists").read(ListsApp.Lists.self).lists.first
      #expect(shared?.members?.map(\.name) == ["bob"])
    }
  }

  /// From signing up to a list that two users share.
  @Test(arguments: engines) func theAppFromSigningUpToASharedList(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let bob = try await stack.signIn("bob").browser
      let secret = "correct horse"
      let person = ["email": "alice@example.com", "password": secret, "password_confirmation": secret, "name": "Alice"]
      let up = try await stack.gateway.post("/api/v1/auth/sign_up", ["user": person]).read(ListsApp.Session.self, 201)
      let credentials = ["user": ["email": "alice@example.com", "password": secret]]
      let session = try await stack.gateway.post("/api/v1/auth/sign_in", credentials).read(ListsApp.Session.self)
      #expect(session.user.id == up.user.id && session.user.has_password == true)
      let alice = stack.gateway.bearing(session.token)
      #expect(try await alice.get("/api/v1/lists").read(ListsApp.Lists.self).lists.isEmpty)
      let home = try await alice.post("/api/v1/tags", ["tag": ["name": "Home"]]).read(ListsApp.Tag.self, 201)
      let sent: [String: any Sendable] = ["name": "Home", "list_type": "tasks", "tag_ids": [home.id]]
      let list = try await alice.post("/api/v1/lists", body("list", sent)).read(ListsApp.OneList.self, 201).list
      let tasks = "/api/v1/lists/\(list.id)/tasks"
      let plants: [String: any Sendable] = [
        "title": "Plants", "due_at": RFC3339.milliseconds(stack.clock.now - 600), "strict_mode": false,
        "is_recurring": true, "recurrence_pattern": "daily", "tag_ids": [home.id],
      ]
      let task = try await alice.post(tasks, body("task", plants)).read(ListsApp.OneTask.self, 201).task
      try await alice.share(list.id, with: "bob")
      // Bob sees the task as overdue, reschedules and completes it; both users then see the next one.
      let overdue = try await bob.get("/api/v1/today").read(ListsApp.Today.self).overdue
      #expect(overdue.map(\.id) == [task.id] && overdue.first?.tags?.map(\.name) == ["Home"])
      let soon = RFC3339.milliseconds(stack.clock.now + 600)
      let moved = try await bob.post(
        "/api/v1/tasks/\(task.id)/reschedule", ["new_due_at": soon, "reason": "not_ready"])
      #expect(try moved.read(ListsApp.OneTask.self).task.reschedule_events?.map(\.reason) == ["not_ready"])
      let cursor = try await alice.get(tasks).string("cursor")
      #expect(try await bob.patch("\(tasks)/\(task.id)/complete").read(ListsApp.OneTask.self).task.status == "done")
      let news = try await alice.get("\(tasks)?since=\(cursor)").read(ListsApp.Tasks.self).tasks
      let next = try #require(news.first { $0.id != task.id })
      #expect(news.count == 2 && next.template_id == task.id && next.status == "pending")
      #expect(next.tags?.map(\.name) == ["Home"] && next.reschedule_events?.isEmpty == true)
      let shared = try await bob.get("/api/v1/lists").read(ListsApp.Lists.self).lists
      #expect(shared.map(\.role) == ["editor"] && shared.first?.user?.id == session.user.id)
      #expect(shared.first?.completed_tasks_count == 1 && shared.first?.tasks_count == 2)
      #expect(try await bob.get("/api/v1/today").read(ListsApp.Today.self).completed_today.map(\.id) == [task.id])
    }
  }
}
