import Database
import Foundation
import Support
import Testing
import Web
import Wire

/// Export and erasure of a user's data.
@Suite struct ListErasureTests {
  @Test(arguments: engines) func whoIsErasedLeavesTheirListsToOthers(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let (bob, carol) = (try await stack.signIn("bob").browser, try await stack.signIn("carol").browser)
      let shared = try await alice.browser.makeList("Shared")
      let lone = try await alice.browser.makeList("Lone")
      try await alice.browser.share(lone, with: "bob", as: "viewer")
      try await alice.browser.share(shared, with: "carol")
      try await alice.browser.share(shared, with: "bob")
      let theirs = try await bob.makeList("Bob's")
      try await bob.share(theirs, with: "alice")
      let more: [String: any Sendable] = [
        "location_name": "Garden", "color": "teal", "hidden": true, "recurrence_pattern": "monthly",
        "is_recurring": false,
      ]
      let task = try await alice.browser.makeTask(theirs, "Made by alice", more)
      #expect(try await alice.browser.put("/api/v1/lists/\(shared)", ["list": ["list_type": "shopping"]]).status == 200)
      _ = try await bob.post("/api/v1/tasks/\(task)/assign", ["assigned_to": "alice@example.com"])
      _ = try await alice.browser.post("/api/v1/tasks/\(task)/complete", ["reason": "I was ill"])
      // Late, so that the explanation is stored on the task itself.
      let late = try await bob.makeTask(
        theirs, "Late", ["due_at": RFC3339.milliseconds(stack.clock.now - 3600), "strict_mode": false])
      _ = try await alice.browser.post("/api/v1/tasks/\(late)/complete", ["missed_reason": "I was in hospital"])
      #expect(try await bob.get("/api/v1/tasks/\(late)").object("task").string("missed_reason") == "I was in hospital")
      let tasksCursor = try await bob.get("/api/v1/lists/\(theirs)/tasks").string("cursor")
      let tag = try await alice.browser.post("/api/v1/tags", ["tag": ["name": "Private"]]).object("tag").int("id") ?? 0
      #expect(try await alice.browser.put("/api/v1/lists/\(shared)", body("list", ["tag_ids": [tag]])).status == 200)
      _ = try await alice.browser.patch("/api/v1/tasks/\(task)", ["task": ["tag_ids": [tag]]])
      let cursor = try await bob.get("/api/v1/lists").string("cursor")

      let path = "/internal/users/\(alice.id)/data"
      let auth = stack.lists.with(stack.with(key: "auth"))
      let export = try await auth.get(path)
      #expect(export.objects("lists").map { $0.string("name") } == ["Shared", "Lone"])
      #expect(export.objects("memberships").map { $0.string("list_name") } == ["Bob's"])
      #expect(export.objects("tasks").map { $0.string("title") } == ["Made by alice"])
      #expect(export.objects("task_events").map { $0.string("kind") } == ["created", "completed", "completed"])
      #expect(export.objects("tags").map { $0.string("name") } == ["Private"])
      let made = try #require(export.objects("tasks").first)
      #expect(made.object("location").string("location_name") == "Garden" && made.string("color") == "teal")
      #expect(made.object("recurrence").string("recurrence_pattern") == "monthly" && made.bool("hidden") == true)
      #expect(export.objects("lists").first?.string("list_type") == "shopping")
      #expect((export["completion_days"] as? [String])?.count == 1)

      for _ in 0..<2 { #expect(try await auth.delete(path).status == 204) }
      for name in ["lists", "memberships", "tasks", "tasks_on_left_lists", "task_events", "tags", "completion_days"] {
        #expect((try await auth.get(path)[name] as? [Any])?.isEmpty == true, "\(name)")
      }
      // The list was transferred to its longest-standing editor; the one without editors was deleted.
      let kept = try await carol.get("/api/v1/lists/\(shared)").object("list")
      #expect(kept.objects("tags").isEmpty)
      #expect(kept.string("role") == "owner" && kept.int("members_count") == 1)
      #expect(kept.objects("members").map { $0.string("name") } == ["bob"])
      #expect(try await bob.get("/api/v1/lists/\(lone)").status == 404)
      let news = try await bob.get("/api/v1/lists?since=\(cursor)")
      #expect(news.tombstones == [lone])
      let shown = try await bob.get("/api/v1/tasks/\(task)").object("task")
      #expect(shown.object("creator").int("id") == 0 && shown["assigned_to"] == nil && shown.objects("tags").isEmpty)
      #expect(shown.objects("audit_trail").compactMap { $0.object("user").int("id") }.filter { $0 == 0 }.count == 2)
      #expect(!(try await bob.get("/api/v1/tasks/\(task)").text.contains("I was ill")))
      #expect(try await bob.get("/api/v1/tasks/\(late)").object("task")["missed_reason"] is NSNull)
      let changed = try await bob.get("/api/v1/lists/\(theirs)/tasks?since=\(tasksCursor)").objects("tasks")
      #expect(Set(changed.compactMap { $0.int("id") }) == [task, late])
      try await expectNoRows(alice.id, in: stack)
    }
  }

  /// The content of a list is for its members, also when a former member has created it.
  @Test(arguments: engines) func whoHasGoneIsNotToldWhatOthersWroteSince(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await stack.signIn("bob")
      let list = try await alice.makeList()
      let membership = try await alice.share(list, with: "bob")
      let task = try await bob.browser.makeTask(list, "Bob's words")
      _ = try await bob.browser.post("/api/v1/tasks/\(task)/assign", ["assigned_to": "bob@example.com"])
      let auth = stack.lists.with(stack.with(key: "auth"))
      let before = try await auth.get("/internal/users/\(bob.id)/data")
      #expect(before.objects("tasks").map { $0.string("title") } == ["Bob's words"])
      #expect(before.objects("tasks_on_left_lists").isEmpty)
      #expect(try await alice.delete("/api/v1/lists/\(list)/memberships/\(membership)").status < 300)
      _ = try await alice.patch("/api/v1/tasks/\(task)", ["task": ["title": "Not for Bob"]])
      let after = try await auth.get("/internal/users/\(bob.id)/data")
      #expect(after.objects("tasks").isEmpty && !after.text.contains("Not for Bob"))
      #expect(after.objects("tasks_on_left_lists").compactMap { $0.int("id") } == [task])
    }
  }

  @Test(arguments: engines) func onlyAuthAsks(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let path = "/internal/users/\(alice.id)/data"
      for key in ["gateway", "invites", "plain"] {
        #expect(try await stack.lists.with(stack.with(key: key)).get(path).status == 403)
        #expect(try await stack.lists.with(stack.with(key: key)).delete(path).status == 403)
      }
      #expect(try await stack.lists.bearing(alice.access).delete(path).status == 403)
      #expect(try await stack.gateway.with(stack.with(key: "auth")).delete(path).status == 404)
      #expect(try await stack.lists.with(stack.with(key: "auth")).get("/internal/users/alice/data").status == 404)
      let whole = try await alice.browser.get("/api/v1/users/me/export")
      #expect(whole.object("data").object("lists")["tasks"] != nil)
    }
  }

  @Test(arguments: engines) func aDeletedAccountIsForgottenHereToo(engine: Engine) async throws {
    try await withStack(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack in
      let alice = try await stack.signIn("alice")
      let bob = try await stack.signIn("bob").browser
      let list = try await alice.browser.makeList()
      try await alice.browser.share(list, with: "bob")
      #expect(try await alice.browser.send(.DELETE, "/api/v1/auth/account").status == 200)
      try await eventually("the list's new owner") {
        try await bob.get("/api/v1/lists/\(list)").object("list").string("role") == "owner"
      }
    }
  }

  @Test func onSQLiteNoByteOfItIsInTheFiles() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice").browser
      let user = try await alice.get("/api/v1/auth/me").string("id")
      let list = try await alice.makeList("Things nobody should know")
      _ = try await alice.makeTask(list, "Buy a secret present")
      let secrets = ["Things nobody should know", "Buy a secret present"]
      #expect(try found(secrets, in: stack.testDatabase.folder) == secrets)
      let auth = stack.lists.with(stack.with(key: "auth"))
      #expect(try await auth.delete("/internal/users/\(user)/data").status == 204)
      #expect(try found(secrets, in: stack.testDatabase.folder).isEmpty)
    }
  }

  private func found(_ secrets: [String], in folder: URL) throws -> [String] {
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("lists") }
    let bytes = try files.map { try Data(contentsOf: folder.appending(path: $0)) }
    return secrets.filter { secret in bytes.contains { $0.range(of: Data(secret.utf8)) != nil } }
  }

  private func expectNoRows(_ user: UserID, in stack: TestStack) async throws {
    let database = try await stack.testDatabase.open("lists", [])
    let counts = try await database.read { db in
      try [
        db.rows("select id from list where owner_id = \(user)"),
        db.rows("select id from membership where user_id = \(user)"),
        db.rows("select id from task where creator_id = \(user) or assignee_id = \(user)"),
        db.rows("select id from task_event where user_id = \(user)"),
        db.rows("select id from tag where user_id = \(user)"),
        db.rows("select day from completion_day where user_id = \(user)"),
        db.rows("select day from named_people where user_id = \(user)"),
        db.rows("select caller from idempotency_key where caller = \(user.description)"),
      ].map(\.count)
    }
    await database.close()
    #expect(counts == Array(repeating: 0, count: 8))
  }
}
