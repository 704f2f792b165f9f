import Database
import Foundation
import Support
import Testing
import Wire

@testable import Lists

/// Changes since a cursor.
@Suite struct ChangeCursorTests {
  @Test(arguments: engines) func aListTellsWhatHasChangedInOrder(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let path = "/api/v1/lists/\(list)/tasks"
      var ids: [Int] = []
      for title in ["a", "b", "c", "d"] { ids.append(try await alice.makeTask(list, title)) }
      let cursor = try await alice.get(path).string("cursor")
      let quiet = try await alice.get("\(path)?since=\(cursor)")
      #expect(quiet.objects("tasks").isEmpty && quiet.tombstones.isEmpty)
      #expect(quiet.string("cursor") == cursor && quiet.bool("has_more") == false)

      _ = try await alice.patch("/api/v1/tasks/\(ids[2])", ["task": ["title": "C"]])
      _ = try await alice.delete("/api/v1/tasks/\(ids[1])")
      _ = try await alice.post("/api/v1/tasks/\(ids[0])/complete")
      let part = try await alice.post("/api/v1/tasks/\(ids[3])/subtasks", ["subtask": ["title": "part"]])
      #expect(part.status == 201)
      let news = try await alice.get("\(path)?since=\(cursor)")
      #expect(news.objects("tasks").map { $0.string("title") } == ["C", "a", "d"])
      #expect(news.tombstones == [ids[1]])
      #expect(news.objects("deleted").first?.string("deleted_at").hasSuffix("Z") == true)
      #expect(news.objects("deleted").compactMap { $0.int("id") } == [ids[1]])
      // The old cursor returns the same changes again, the new one none.
      #expect(try await alice.get("\(path)?since=\(cursor)").body == news.body)
      #expect(try await alice.get("\(path)?since=\(news.string("cursor"))").objects("tasks").isEmpty)
      // A request without an effect is not a change.
      _ = try await alice.post("/api/v1/tasks/\(ids[0])/complete")
      _ = try await alice.patch("/api/v1/tasks/\(ids[2])", ["task": ["title": "C"]])
      #expect(try await alice.get("\(path)?since=\(news.string("cursor"))").objects("tasks").isEmpty)
    }
  }

  @Test(arguments: engines) func aCursorIsOfOneListAndNotMadeUp(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let (list, other) = (try await alice.makeList(), try await alice.makeList("Other"))
      let cursor = try await alice.get("/api/v1/lists/\(other)/tasks").string("cursor")
      let future = TasksCursor(list: list, revision: 1_000_000).text
      for wrong in [cursor, future, "x", "AAAA", "2026-11-21T08:15:30Z", String(repeating: "_", count: 500)] {
        #expect(try await alice.get("/api/v1/lists/\(list)/tasks?since=\(wrong)").faults == ["since"], "\(wrong)")
      }
      #expect(try await alice.get("/api/v1/lists?since=\(cursor)").faults == ["since"])
      #expect(try await alice.get("/api/v1/lists?since=").faults == ["since"])
    }
  }

  @Test(arguments: engines) func longNewsComeInPieces(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let path = "/api/v1/lists/\(list)/tasks"
      let start = try await alice.get(path).string("cursor")
      // All at one revision, as after a reordering.
      let database = try await stack.testDatabase.open("lists", [])
      try await database.write { db in
        try db.change("update list set revision = 7 where id = \(list)")
        for index in 0..<1100 {
          try db.change(
            """
            insert into task (list_id, title, words, status, priority, starred, strict_mode, position, revision,
              created_at, updated_at)
            values (\(list), \(String(index)), '', 'pending', 0, \(false), \(false), \(index), 7, \(Date()), \(Date()))
            """)
        }
        return
      }
      await database.close()
      var (cursor, seen, pieces) = (start, [String](), [Int]())
      repeat {
        let piece = try await alice.get("\(path)?since=\(cursor)")
        seen += piece.objects("tasks").map { $0.string("title") }
        pieces.append(piece.objects("tasks").count)
        cursor = piece.string("cursor")
        if piece.bool("has_more") != true { break }
      } while pieces.count < 10
      #expect(pieces == [500, 500, 100])
      #expect(seen == (0..<1100).map(String.init))
    }
  }

  @Test(arguments: engines) func listsComeAndGo(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await stack.signIn("bob").browser
      let (first, second) = (try await alice.makeList("First"), try await alice.makeList("Second"))
      let membership = try await alice.share(first, with: "bob")
      let cursor = try await bob.get("/api/v1/lists").string("cursor")
      let mine = try await alice.get("/api/v1/lists").string("cursor")
      #expect(try await bob.get("/api/v1/lists?since=\(cursor)").objects("lists").isEmpty)
      _ = try await alice.makeTask(first)
      try await alice.share(second, with: "bob", as: "viewer")
      let third = try await bob.makeList("Third")
      let news = try await bob.get("/api/v1/lists?since=\(cursor)")
      #expect(news.objects("lists").compactMap { $0.int("id") } == [first, second, third])
      #expect(news.objects("lists").first?.int("tasks_count") == 1)
      // Deleted lists and lists that bob was removed from are both tombstones.
      #expect(try await alice.delete("/api/v1/lists/\(first)/memberships/\(membership)").status == 204)
      #expect(try await alice.delete("/api/v1/lists/\(second)").status == 204)
      let gone = try await bob.get("/api/v1/lists?since=\(news.string("cursor"))")
      #expect(gone.objects("lists").isEmpty)
      #expect(gone.tombstones == [first, second])
      #expect(try await alice.get("/api/v1/lists?since=\(mine)").tombstones == [second])
      // A list that he joins again is a change again.
      try await alice.share(first, with: "bob")
      #expect(try await bob.get("/api/v1/lists?since=\(gone.string("cursor"))").objects("lists").count == 1)
    }
  }

  @Test func cursorsAreWhatTheyWere() throws {
    for numbers in [[], [0], [127, 128, 300], [Int.max, 0, Int.max]] {
      #expect(Varints.decode(numbers.flatMap { Varints.encode($0) }) == numbers)
    }
    #expect(Varints.decode([0x80]) == nil && Varints.decode(Array(repeating: 0xFF, count: 12)) == nil)
    let cursor = try TasksCursor(TasksCursor(list: 5, revision: 9).text, of: 5)
    #expect(cursor.revision == 9 && cursor.task == .max)
    #expect(throws: Failure.self) { try TasksCursor(TasksCursor(list: 5, revision: 9).text, of: 6) }
  }

  /// The transaction that increments the revision first also commits first: later changes wait for a slow commit, so
  /// that it cannot appear behind a cursor that has already passed it.
  @Test(arguments: engines) func aChangeThatCommitsLateIsNotSkipped(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let list = try await alice.browser.makeList()
      let path = "/api/v1/lists/\(list)/tasks"
      let (held, mayCommit) = (Flag(), Flag())
      let database = try await stack.testDatabase.open("lists", [])
      let now = stack.clock.now
      async let slow: Void = database.write { db in
        var fields = RequestFields(["title": .string("Slow")])
        let change = TaskChange(&fields)
        _ = try TaskStore.create(change, in: list, by: ActingUser(user: alice.id, timeZone: .gmt), at: now, on: db)
        held.raise()
        let end = Date() + 30
        while !mayCommit.isRaised, Date() < end { Thread.sleep(forTimeInterval: 0.005) }
      }
      try await eventually("the slow change") { held.isRaised }
      async let quick = alice.browser.makeTask(list, "Quick")
      // Long enough for the quick change, if the lock did not delay it.
      try await Task.sleep(for: .milliseconds(300))
      let between = try await alice.browser.get(path)
      #expect(between.objects("tasks").isEmpty)
      mayCommit.raise()
      _ = try await (slow, quick)
      let news = try await alice.browser.get("\(path)?since=\(between.string("cursor"))")
      #expect(news.objects("tasks").map { $0.string("title") } == ["Slow", "Quick"])
      await database.close()
    }
  }

  /// A transaction that began first may commit last; a client that reads in between must not miss its changes.
  @Test(arguments: engines) func nothingIsLostBetweenTwoCalls(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let path = "/api/v1/lists/\(list)/tasks"
      let start = try await alice.get(path).string("cursor")
      let (over, looked) = (Flag(), Flag())
      async let writing: Void = {
        defer { over.raise() }
        _ = try await atOnce(8) { writer in
          for index in 0..<25 {
            // The premise: a read happens in between.
            if index == 12 { try await eventually("a look") { looked.isRaised } }
            let id = try await alice.makeTask(list, "\(writer).\(index)")
            if index.isMultiple(of: 5) { _ = try await alice.delete("/api/v1/tasks/\(id)") }
          }
        }
      }()
      var (cursor, seen, gone) = (start, Set<String>(), Set<Int>())
      while true {
        let isLast = over.isRaised
        let news = try await alice.get("\(path)?since=\(cursor)")
        seen.formUnion(news.objects("tasks").map { $0.string("title") })
        gone.formUnion(news.tombstones)
        cursor = news.string("cursor")
        if seen.count > 20 { looked.raise() }
        if isLast { break }
      }
      try await writing
      let now = try await alice.titles(list)
      #expect(now.count == 160 && Set(now).isSubset(of: seen) && gone.count == 40)
    }
  }
}
