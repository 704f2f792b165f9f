import Database
import Foundation
import Support
import Testing

@testable import Lists

/// Tags belong to one user, and are set on shared tasks.
@Suite struct TagTests {
  @Test(arguments: engines, ["remove", "leave", "demote"])
  func whoMayNotChangeAListDoesNotDoSoByTheNamesOfTags(engine: Engine, way: String) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice").browser, try await stack.signIn("bob").browser)
      let (list, other) = (try await alice.makeList(), try await alice.makeList("Other"))
      let membership = try await alice.share(list, with: "bob")
      try await alice.share(other, with: "bob")
      let (task, elsewhere) = (try await alice.makeTask(list), try await alice.makeTask(other))
      let hers = try #require(try await alice.post("/api/v1/tags", ["tag": ["name": "Hers"]]).object("tag").int("id"))
      let his = try #require(try await bob.post("/api/v1/tags", ["tag": ["name": "His"]]).object("tag").int("id"))
      _ = try await alice.patch("/api/v1/tasks/\(task)", ["task": ["tag_ids": [hers]]])
      for id in [task, elsewhere] {
        let tags = id == task ? [hers, his] : [his]
        #expect(try await bob.patch("/api/v1/tasks/\(id)", ["task": ["tag_ids": tags]]).status == 200)
      }
      func names(_ id: Int) async throws -> [String] {
        try await alice.get("/api/v1/tasks/\(id)").object("task").objects("tags").map { $0.string("name") }
      }
      #expect(try await names(task) == ["Hers", "His"])
      let cursor = try await alice.get("/api/v1/lists/\(list)/tasks").string("cursor")

      let path = "/api/v1/lists/\(list)/memberships/\(membership)"
      let status =
        switch way {
        case "remove": try await alice.delete(path).status
        case "leave": try await bob.delete(path).status
        default: try await alice.patch(path, ["membership": ["role": "viewer"]]).status
        }
      #expect((200..<300).contains(status))
      let news = try await alice.get("/api/v1/lists/\(list)/tasks?since=\(cursor)").objects("tasks")
      #expect(news.first?.objects("tags").map { $0.string("name") } == ["Hers"])
      let before = try await alice.get("/api/v1/tasks/\(task)").tag
      #expect(try await bob.patch("/api/v1/tags/\(his)", ["tag": ["name": "For all to see"]]).status == 200)
      #expect(try await alice.get("/api/v1/tasks/\(task)").tag == before)
      #expect(try await names(task) == ["Hers"])
      #expect(try await names(elsewhere) == ["For all to see"])
    }
  }

  /// Concurrent requests from two devices: a client that follows the changes ends with the stored state, and no request
  /// fails with a server error.
  @Test(arguments: engines) func aTagThatIsDeletedWhileItIsPutOnATaskIsGoneForAll(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let tasks = [try await alice.makeTask(list, "One"), try await alice.makeTask(list, "Two")]
      let path = "/api/v1/lists/\(list)/tasks"
      var cursor = try await alice.get(path).string("cursor")
      var followed: [Int: [String]] = [:]
      for round in 0..<20 {
        let name = "Tag \(round)"
        let made = try await alice.post("/api/v1/tags", ["tag": ["name": name]])
        let tag = try #require(made.object("tag").int("id"))
        let over = Flag()
        async let changes = {
          defer { over.raise() }
          return try await atOnce(4) { index in
            switch index {
            case 0: try await alice.delete("/api/v1/tags/\(tag)").status
            case 1: try await alice.patch("/api/v1/tags/\(tag)", ["tag": ["color": "red"]]).status
            default: try await alice.patch("/api/v1/tasks/\(tasks[index - 2])", ["task": ["tag_ids": [tag]]]).status
            }
          }
        }()
        while true {
          let isLast = over.isRaised
          let news = try await alice.get("\(path)?since=\(cursor)")
          for task in news.objects("tasks") {
            followed[task.int("id") ?? 0] = task.objects("tags").map { "\($0.string("name")) \($0.string("color"))" }
          }
          cursor = news.string("cursor")
          if isLast { break }
        }
        let statuses = try await changes
        #expect(statuses.allSatisfy { [200, 204, 404, 422].contains($0) }, "\(statuses)")
        for task in try await alice.get(path).objects("tasks") {
          let tags = task.objects("tags").map { "\($0.string("name")) \($0.string("color"))" }
          #expect(tags.isEmpty && followed[task.int("id") ?? 0] ?? [] == tags, "round \(round)")
        }
      }
    }
  }

  /// One grapheme cluster may have thousands of bytes.
  @Test(arguments: engines) func marksOnACharacterCount(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let marked = characterWithMarks
      #expect(marked.count == 1)
      #expect(try await alice.post("/api/v1/lists", ["list": ["name": marked]]).faults == ["name"])
      #expect(try await alice.post("/api/v1/tags", ["tag": ["name": marked]]).faults == ["name"])
      let task: [String: any Sendable] = ["title": marked, "client_id": marked, "note": marked]
      let refused = try await alice.post("/api/v1/lists/\(list)/tasks", ["task": task])
      #expect(refused.status == 422 && refused.faults == ["client_id", "title"])
      let family = String(repeating: "👨‍👩‍👧‍👦", count: 36)
      #expect(try await alice.post("/api/v1/lists", ["list": ["name": family]]).status == 201)
    }
  }
}
