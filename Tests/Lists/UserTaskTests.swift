import Database
import Foundation
import Support
import Testing
import Wire

@testable import Lists

/// Tasks of all lists of a user.
@Suite struct UserTaskTests {
  @Test(arguments: engines) func tasksOfAllListsComeInPages(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await stack.signIn("bob").browser
      let (mine, theirs) = (try await alice.makeList("Mine"), try await bob.makeList("Bob's"))
      let secret = try await bob.makeList("Secret")
      try await bob.share(theirs, with: "alice", as: "viewer")
      _ = try await bob.makeTask(secret, "Hidden")
      for index in 0..<30 {
        let due = RFC3339.milliseconds(stack.clock.now + Double(index - 5) * 3600 + 1800)
        _ = try await alice.makeTask(mine, "\(index)", ["due_at": due, "priority": index % 5, "starred": index == 3])
      }
      _ = try await bob.makeTask(theirs, "Last")
      let first = try await alice.get("/api/v1/tasks")
      #expect(first.objects("tasks").map { $0.string("title") } == (0..<25).map(String.init))
      #expect(first.bool("has_more") == true && first.int("page") == 1 && first.int("per_page") == 25)
      let second = try await alice.get("/api/v1/tasks?page=2")
      #expect(second.objects("tasks").map { $0.string("title") } == (25..<30).map(String.init) + ["Last"])
      #expect(second.bool("has_more") == false)
      #expect(second.objects("tasks").last?.bool("can_edit") == false)
      #expect(try await alice.get("/api/v1/tasks?per_page=50").objects("tasks").count == 31)
      let id = try #require(first.objects("tasks").first?.int("id"))
      _ = try await alice.post("/api/v1/tasks/\(id)/complete")
      for (query, count) in [
        ("status=done", 1), ("status=pending", 30), ("starred=true", 1), ("priority=4", 6), ("list_id=\(theirs)", 1),
        ("list_id=\(secret)", 0), ("overdue=true", 4), ("overdue=false", 27), ("overdue=true&status=done", 0),
        ("due_before=\(RFC3339.milliseconds(stack.clock.now))", 5), ("due_after=2000-01-01T00:00:00Z", 30),
      ] {
        #expect(try await alice.get("/api/v1/tasks?per_page=50&\(query)").objects("tasks").count == count, "\(query)")
      }
      // A user without an account and one who shares no list have the same response.
      _ = try await stack.signIn("stranger")
      for name in ["stranger@example.com", "ghost@example.com", "999999"] {
        let reply = try await alice.get("/api/v1/tasks?assigned_to=\(name)")
        #expect(reply.status == 200 && reply.objects("tasks").isEmpty, "\(name)")
      }
      for (query, fault) in [
        ("per_page=51", "per_page"), ("page=0", "page"), ("status=lost", "status"), ("priority=9", "priority"),
        ("due_after=soon", "due_after"), ("starred=2", "starred"), ("assigned_to=nobody", "assigned_to"),
      ] {
        let reply = try await alice.get("/api/v1/tasks?\(query)")
        #expect(reply.status == 422 && reply.faults == [fault], "\(query)")
      }
    }
  }

  @Test(arguments: engines) func aSearchFindsWordsWhateverTheirCase(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await stack.signIn("bob").browser
      let list = try await alice.makeList()
      let cafe = try await alice.makeTask(list, "Meet at the CAFÉ")
      let percent = try await alice.makeTask(list, "Save 50%_now\\", ["note": "Straße in ΑΘΗΝΑ"])
      _ = try await alice.post("/api/v1/tasks/\(cafe)/subtasks", ["subtask": ["title": "Take a croissant"]])
      func found(_ words: String, by browser: Browser? = nil) async throws -> [Int] {
        let query = words.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await (browser ?? alice).get("/api/v1/tasks/search?q=\(query)").objects("tasks").compactMap {
          $0.int("id")
        }
      }
      for words in ["café", "cafe", "CAFE", "at the c"] { #expect(try await found(words) == [cafe], "\(words)") }
      for words in ["50%", "%_n", "\\", "αθηνα", "straße"] { #expect(try await found(words) == [percent], "\(words)") }
      #expect(try await found("croissant").count == 1)
      for words in ["%%", "5_%", "tea"] { #expect(try await found(words).isEmpty, "\(words)") }
      #expect(try await found("café", by: bob).isEmpty)
      for query in ["", "?q=", "?q=%20", "?q=" + String(repeating: "x", count: 256)] {
        #expect(try await alice.get("/api/v1/tasks/search\(query)").faults == ["q"], "\(query)")
      }
      for index in 0..<60 { _ = try await alice.makeTask(list, "Tea \(index)") }
      #expect(try await found("tea").count == 50)
    }
  }

  @Test(arguments: engines) func todayBeginsAtMidnightWhereTheUserIs(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let zone = try #require(TimeZone(identifier: "Pacific/Kiritimati"))
      let day = LocalDay(stack.clock.now, in: zone)
      func task(_ title: String, _ due: Date) async throws -> Int {
        try await alice.makeTask(list, title, ["due_at": RFC3339.milliseconds(due)])
      }
      _ = try await task("Yesterday", day.start - 60)
      _ = try await task("Tonight", day.end - 0.001)
      _ = try await task("Tomorrow", day.end)
      let done = try await task("Done", day.end - 1)
      _ = try await alice.post("/api/v1/tasks/\(done)/complete")
      _ = try await alice.makeTask(list, "Whenever")
      let today = try await alice.get("/api/v1/today?timezone=Pacific/Kiritimati")
      #expect(today.status == 200 && today.string("date") == day.name)
      func titles(_ name: String) -> [String] { today.objects(name).map { $0.string("title") } }
      #expect(titles("overdue") == ["Yesterday"] && titles("due_today") == ["Tonight"])
      #expect(titles("completed_today") == ["Done"] && today.bool("has_more_overdue") == false)
      let stats = today.object("stats")
      #expect(stats.int("overdue_count") == 1 && stats.int("total_due_today") == 2)
      #expect(stats.int("completed_today") == 1 && stats.int("remaining_today") == 1)
      #expect(stats.int("completion_percentage") == 50)
      #expect(today.object("streak").int("current") == 1 && today.object("streak").int("longest") == 1)
      #expect(try await alice.get("/api/v1/today").string("timezone") == "UTC")
      for name in ["Mars/Olympus", ""] {
        #expect(try await alice.get("/api/v1/today?timezone=\(name)").faults == ["timezone"], "\(name)")
      }
    }
  }

  @Test func aDayIsAsLongAsItIsThere() throws {
    let oslo = try #require(TimeZone(identifier: "Europe/Oslo"))
    let noon = try #require(RFC3339.parse("2026-03-29T10:00:00Z"))
    let day = LocalDay(noon, in: oslo)
    #expect(day.name == "2026-03-29" && day.end.timeIntervalSince(day.start) == 23 * 3600)
    let late = try #require(RFC3339.parse("2026-11-21T23:30:00Z"))
    #expect(LocalDay(late, in: oslo).name == "2026-11-22" && LocalDay(late, in: .gmt).name == "2026-11-21")
  }

  @Test func aStreakIsDaysInARow() {
    func streak(_ days: String...) -> [Int] {
      let streak = Streak(of: days, today: "2026-03-01")
      return [streak.current, streak.longest]
    }
    #expect(streak() == [0, 0])
    #expect(streak("2026-03-01") == [1, 1])
    #expect(streak("2026-02-28", "2026-02-27") == [2, 2])
    #expect(streak("2026-02-27", "2026-02-26") == [0, 2])
    #expect(streak("2026-03-01", "2026-02-28", "2026-02-20", "2026-02-19", "2026-02-18") == [2, 3])
  }
}
