import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Lists

/// The limits for texts on a list, and responses for large lists.
@Suite struct TextSizeTests {
  @Test(arguments: engines) func aListHoldsFourMegabytesOfText(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let long = String(repeating: "🙂", count: 10_000)
      let note = try await alice.makeTask(list, "Long", ["note": long])
      try await fill(list, to: List.textSizeMax - 50_000, stack)
      let second = try await alice.makeTask(list, "Second", ["note": long])
      let full = try await alice.post("/api/v1/lists/\(list)/tasks", ["task": ["title": "Third", "note": long]])
      #expect(full.status == 409 && full.string("code") == "list_full")
      let third = try await alice.makeTask(list, "Third")
      let grown = try await alice.patch("/api/v1/tasks/\(third)", ["task": ["note": long]])
      #expect(grown.status == 409 && grown.string("code") == "list_full")
      let part = ["subtask": ["title": "Part", "note": long]]
      #expect(try await alice.post("/api/v1/tasks/\(third)/subtasks", part).status == 409)
      // A change that adds no text is allowed, and a deletion makes room.
      #expect(try await alice.patch("/api/v1/tasks/\(second)", ["task": ["starred": true]]).status == 200)
      #expect(try await alice.patch("/api/v1/tasks/\(second)", ["task": ["note": "Short"]]).status == 200)
      #expect(try await alice.patch("/api/v1/tasks/\(third)", ["task": ["note": long]]).status == 200)
      #expect(try await alice.patch("/api/v1/tasks/\(second)", ["task": ["note": long]]).status == 409)
      #expect(try await alice.delete("/api/v1/tasks/\(note)").status == 200)
      #expect(try await alice.patch("/api/v1/tasks/\(second)", ["task": ["note": long]]).status == 200)
    }
  }

  /// The size stored on the list always matches its tasks, and concurrent requests cannot exceed the limit.
  @Test(arguments: engines) func theSizeIsThatOfWhatIsThere(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let first = try await alice.makeTask(list, "A \"quoted\" title", ["note": "Two\nlines"])
      for title in ["One", "Two"] {
        let made = try await alice.post("/api/v1/tasks/\(first)/subtasks", ["subtask": ["title": title]])
        #expect(made.status == 201)
      }
      let parts = try await alice.get("/api/v1/tasks/\(first)/subtasks").objects("subtasks")
      #expect(try await sizes(list, stack) == [18 + 10 + 3 + 3])
      let part = try #require(parts.first?.int("id"))
      _ = try await alice.patch("/api/v1/tasks/\(first)/subtasks/\(part)", ["subtask": ["note": "More"]])
      #expect(try await sizes(list, stack) == [38])
      _ = try await alice.delete("/api/v1/tasks/\(first)/subtasks/\(part)")
      _ = try await alice.post("/api/v1/tasks/\(first)/complete")
      #expect(try await sizes(list, stack) == [31])
      _ = try await alice.delete("/api/v1/tasks/\(first)")
      #expect(try await sizes(list, stack) == [0])
      let note = String(repeating: "x", count: 10_000)
      try await fill(list, to: List.textSizeMax - 45_000, stack)
      let statuses = try await atOnce(12) { index in
        try await alice.post("/api/v1/lists/\(list)/tasks", ["task": ["title": "\(index % 10)", "note": note]]).status
      }
      #expect(statuses.count { $0 == 201 } == 4 && statuses.count { $0 == 409 } == 8)
    }
  }

  /// Completing a task may add an explanation, and the next task of the series repeats all other texts.
  @Test(arguments: engines) func aSeriesGoesOnOnlyWhereItsNextTaskFits(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let task = try await alice.makeTask(
        list, "Plants",
        [
          "note": String(repeating: "x", count: 1000), "due_at": RFC3339.milliseconds(stack.clock.now + 3600),
          "strict_mode": false, "recurrence_pattern": "daily",
        ])
      try await fill(list, to: List.textSizeMax - 1100, stack)
      let why = ["missed_reason": String(repeating: "y", count: 200)]
      let full = try await alice.post("/api/v1/tasks/\(task)/complete", why)
      #expect(full.status == 409 && full.string("code") == "list_full")
      #expect(try await alice.post("/api/v1/tasks/\(task)/complete").status == 200)
      #expect(try await alice.titles(list).filter { $0 == "Plants" }.count == 2)
    }
  }

  @Test(arguments: engines) func reasonsOfMovesCount(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let due = stack.clock.now + 3600
      let task = try await alice.makeTask(list, "Dentist", ["due_at": RFC3339.milliseconds(due)])
      try await fill(list, to: List.textSizeMax - 1500, stack)
      func move(_ hours: Double) async throws -> Browser.Reply {
        let body = [
          "new_due_at": RFC3339.milliseconds(due + hours * 3600), "reason": String(repeating: "y", count: 1000),
        ]
        return try await alice.post("/api/v1/tasks/\(task)/reassign", body)
      }
      #expect(try await move(1).status == 200)
      #expect(try await sizes(list, stack) == [List.textSizeMax - 500])
      let full = try await move(2)
      #expect(full.status == 409 && full.string("code") == "list_full")
      #expect(try await alice.delete("/api/v1/tasks/\(task)").status == 200)
      #expect(try await sizes(list, stack) == [List.textSizeMax - 1500 - "Dentist".utf8.count])
    }
  }

  @Test(arguments: engines) func aTaskWithItsPartsHasABoundOfItsOwn(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let task = try await alice.makeTask(try await alice.makeList())
      let part = ["subtask": ["title": "Part", "note": String(repeating: "🙂", count: 10_000)]]
      var statuses: [Int] = []
      for _ in 0..<7 { statuses.append(try await alice.post("/api/v1/tasks/\(task)/subtasks", part).status) }
      #expect(statuses == Array(repeating: 201, count: 6) + [409])
      let more = try await alice.patch(
        "/api/v1/tasks/\(task)", ["task": ["note": String(repeating: "x", count: 10_000)]])
      #expect(more.status == 200)
      let most = try await alice.patch(
        "/api/v1/tasks/\(task)", ["task": ["note": String(repeating: "🙂", count: 10_000)]])
      #expect(most.status == 409)
    }
  }

  /// A streamed list has the same tasks as its pages, and as the short list had before.
  @Test(arguments: engines) func aLongListIsShownWhole(engine: Engine) async throws {
    try await withStack(engine) { stack in
      // Tasks say for how many minutes they are overdue, which is compared below.
      stack.clock.stop()
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.makeList()
      try await alice.browser.share(list, with: "bob", as: "viewer")
      let path = "/api/v1/lists/\(list)"
      let first = try await alice.browser.makeTask(list, "Late", ["due_at": "2020-01-01T00:00:00Z"])
      _ = try await alice.browser.post("/api/v1/tasks/\(first)/subtasks", ["subtask": ["title": "Part"]])
      let short = try await alice.browser.get("\(path)/tasks")
      try await fill(list, to: 300_000, stack)
      let whole = try await alice.browser.get("\(path)/tasks")
      #expect(whole.status == 200 && whole.headers.first(name: "content-length") == nil, "the premise: it is streamed")
      let tasks = whole.objects("tasks")
      #expect(tasks.count == 1 + 200 && Set(tasks.compactMap { $0.int("id") }).count == tasks.count)
      #expect(tasks.compactMap { $0.int("position") } == tasks.compactMap { $0.int("position") }.sorted())
      #expect(NSDictionary(dictionary: tasks[0]) == NSDictionary(dictionary: short.objects("tasks")[0]))
      #expect(whole.bool("has_more") == false && !whole.string("cursor").isEmpty)
      let shown = try await bob.browser.get(path).object("list")
      #expect(shown.objects("tasks").compactMap { $0.int("id") } == tasks.compactMap { $0.int("id") })
      #expect(shown.objects("members").count == 1 && shown.objects("tasks")[0].bool("can_edit") == false)

      // The pages have the same tasks.
      var paged: [Int] = []
      for page in 1... {
        let reply = try await alice.browser.get("\(path)/tasks?page=\(page)&per_page=50")
        #expect(reply.int("page") == page && reply.int("per_page") == 50)
        paged += reply.objects("tasks").compactMap { $0.int("id") }
        guard reply.bool("has_more") == true else { break }
      }
      #expect(paged == tasks.compactMap { $0.int("id") })
      #expect(try await alice.browser.get("\(path)/tasks?per_page=2").objects("tasks").count == 2)
      #expect(try await alice.browser.get("\(path)/tasks?page=2").objects("tasks").count == 25)
      #expect(try await alice.browser.get("\(path)/tasks?page=4000").objects("tasks").isEmpty)
      for (query, fault) in [("page=0", "page"), ("per_page=51", "per_page"), ("page=x", "page")] {
        #expect(try await alice.browser.get("\(path)/tasks?\(query)").faults == [fault])
      }
      // And so do the changes.
      let none = TasksCursor(list: list, revision: 0).text
      let changes = try await alice.browser.get("\(path)/tasks?since=\(none)")
      #expect(Set(changes.objects("tasks").compactMap { $0.int("id") }) == Set(paged))
    }
  }

  @Test(arguments: engines) func theTagOfALongListFollowsWhatItShows(engine: Engine) async throws {
    try await withStack(engine) { stack in
      stack.clock.stop()
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.makeList()
      try await alice.browser.share(list, with: "bob")
      try await fill(list, to: 300_000, stack)
      let path = "/api/v1/lists/\(list)"
      let last = try #require(try await alice.browser.get("\(path)/tasks").objects("tasks").last?.int("id"))
      for path in [path, "\(path)/tasks"] {
        var tag = try await alice.browser.get(path).tag
        #expect(tag.hasPrefix("\"") && tag.count > 12)
        func isKnown(_ person: SignedInUser = alice) async throws -> Bool {
          try await person.browser.with(["If-None-Match": tag]).get(path).status == 304
        }
        #expect(try await isKnown())
        #expect(try await !isKnown(bob), "others see it otherwise")
        #expect(try await bob.browser.patch("/api/v1/tasks/\(last)", ["task": ["title": "\(path)"]]).status == 200)
        #expect(try await !isKnown())
        // The response changes when a task becomes overdue, and with each further minute.
        let due = RFC3339.milliseconds(stack.clock.now + 30)
        #expect(
          try await alice.browser.patch("/api/v1/tasks/\(last)", ["task": ["due_at": due, "reason": "Now"]]).status
            == 200)
        tag = try await alice.browser.get(path).tag
        #expect(try await isKnown())
        for seconds in [31, 60] {
          stack.clock.advance(by: .seconds(seconds))
          #expect(try await !isKnown())
          tag = try await alice.browser.get(path).tag
          stack.clock.advance(by: .seconds(1))
          #expect(try await isKnown())
        }
      }
      // The list can be changed with the entity tag of the response.
      let seen = try await alice.browser.get(path).tag
      let renamed = try await alice.browser.with(["If-Match": seen]).patch(path, ["list": ["name": "Ours"]])
      #expect(renamed.status == 200)
      #expect(try await alice.browser.with(["If-Match": seen]).patch(path, ["list": ["name": "Mine"]]).status == 412)
    }
  }

  @Test(arguments: engines) func manyListsComeInPages(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      var ids: [Int] = []
      for index in 0..<70 { ids.append(try await alice.makeList("List \(index)")) }
      let whole = try await alice.get("/api/v1/lists")
      #expect(whole.objects("lists").compactMap { $0.int("id") } == ids)
      #expect(whole.headers.first(name: "etag") == nil && whole["page"] == nil)
      var paged: [Int] = []
      for page in 1... {
        let reply = try await alice.get("/api/v1/lists?page=\(page)")
        #expect(reply.int("page") == page && reply.int("per_page") == 25)
        paged += reply.objects("lists").compactMap { $0.int("id") }
        guard reply.bool("has_more") == true else { break }
      }
      #expect(paged == ids)
      let page = try await alice.get("/api/v1/lists?page=2&per_page=10")
      #expect(page.objects("lists").compactMap { $0.int("id") } == Array(ids[10..<20]))
      #expect(try await alice.get("/api/v1/lists?per_page=51").faults == ["per_page"])
      let news = try await alice.get("/api/v1/lists?since=\(page.string("cursor"))")
      #expect(news.objects("lists").isEmpty)
      _ = try await alice.patch("/api/v1/lists/\(ids[69])", ["list": ["name": "Other"]])
      _ = try await alice.delete("/api/v1/lists/\(ids[0])")
      let later = try await alice.get("/api/v1/lists?since=\(page.string("cursor"))")
      #expect(later.objects("lists").compactMap { $0.int("id") } == [ids[69]])
    }
  }

  /// Inserts 200 tasks directly into the database, whose texts fill the list up to `size`.
  private func fill(_ list: Int, to size: Int, _ stack: TestStack) async throws {
    let database = try await stack.testDatabase.open("lists", listsMigrations)
    try await database.write { db in
      let row = try db.row("update list set revision = revision + 1 where id = \(list) returning text_size, owner_id")
      let (now, owner) = (Date(), try row?.get("owner_id", as: UserID.self))
      let missing = size - (try row?.get("text_size") ?? 0)
      for index in 0..<200 {
        let note = String(repeating: "x", count: missing / 200 + (index < missing % 200 ? 1 : 0) - 1)
        try db.change(
          """
          insert into task (list_id, creator_id, title, note, words, text_size, status, priority, starred, strict_mode,
            position, revision, created_at, updated_at)
          values (\(list), \(owner), 'T', \(note), '', \(note.utf8.count + 1), 'pending', 0, false, false,
            \(1_000_000 + index), (select revision from list where id = \(list)), \(now), \(now))
          """)
      }
      try db.change(
        """
        update list set text_size = text_size + \(missing), task_count = task_count + 200 where id = \(list)
        """)
    }
    await database.close()
  }

  private func sizes(_ list: Int, _ stack: TestStack) async throws -> Set<Int> {
    let database = try await stack.testDatabase.open("lists", listsMigrations)
    let sizes = try await database.read { db in
      try db.rows(
        """
        select text_size as size from list where id = \(list)
        union all select coalesce(cast(sum(text_size) as bigint), 0) from task
          where list_id = \(list) and deleted_at is null
        """
      ).map { try $0.get("size", as: Int.self) }
    }
    await database.close()
    return Set(sizes)
  }
}
