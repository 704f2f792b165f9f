import Database
import Foundation
import Support
import Testing
import Wire

@testable import Lists

/// Responses with long tasks of all lists.
@Suite struct StreamedTaskTests {
  @Test(arguments: engines) func longTasksComeWholeAndInOrder(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice").browser, try await stack.signIn("bob").browser)
      let (mine, theirs) = (try await alice.makeList("Mine"), try await bob.makeList("Bob's"))
      try await bob.share(theirs, with: "alice", as: "viewer")
      let note = String(repeating: "🙂", count: 10_000)
      // Tasks say for how many minutes they are overdue, which is compared below.
      stack.clock.stop()
      func make(_ index: Int, note: String) async throws -> Int {
        stack.clock.advance(by: .seconds(1))
        let due = RFC3339.milliseconds(stack.clock.now - Double(100 - index) * 60)
        let more: [String: any Sendable] = ["due_at": due, "note": note]
        let (owner, list) = index.isMultiple(of: 2) ? (alice, mine) : (bob, theirs)
        return try await owner.makeTask(list, "Tea \(index)", more)
      }
      var ids = [try await make(0, note: "Short")]
      let made = try await alice.post("/api/v1/tasks/\(ids[0])/subtasks", ["subtask": ["title": "Tea, too"]])
      let part = try #require(made.object("subtask").int("id"))
      let short = try await alice.get("/api/v1/tasks?per_page=50")
      #expect(!short.tag.isEmpty, "the premise: it is one piece")
      for index in 1..<30 { ids.append(try await make(index, note: note)) }

      let page = try await alice.get("/api/v1/tasks?per_page=50")
      #expect(page.status == 200 && page.tag.isEmpty && page.headers.first(name: "content-length") == nil)
      let tasks = page.objects("tasks")
      #expect(tasks.compactMap { $0.int("id") } == ids && page.bool("has_more") == false)
      #expect(NSDictionary(dictionary: tasks[0]) == NSDictionary(dictionary: short.objects("tasks")[0]))
      #expect(tasks.dropFirst().allSatisfy { $0.string("note") == note })
      #expect(tasks.map { $0.bool("can_edit") } == (0..<30).map { $0.isMultiple(of: 2) })
      let second = try await alice.get("/api/v1/tasks?per_page=10&page=2")
      #expect(second.objects("tasks").compactMap { $0.int("id") } == Array(ids[10..<20]))
      #expect(second.bool("has_more") == true && second.int("page") == 2)

      let found = try await alice.get("/api/v1/tasks/search?q=tea").objects("tasks")
      #expect(found.count == 31 && Set(found.compactMap { $0.int("id") }) == Set(ids + [part]))
      let order = found.map { ($0.string("updated_at"), $0.int("id") ?? 0) }
      #expect(order.elementsEqual(order.sorted(by: >), by: ==))
      #expect(found.first { $0.int("id") == part }?.int("parent_task_id") == ids[0])

      let today = try await alice.get("/api/v1/today")
      let late = today.objects("overdue")
      #expect((26...28).contains(late.count) && late.compactMap { $0.int("id") } == Array(ids.prefix(late.count)))
      #expect(late.dropFirst().allSatisfy { $0.string("note") == note })
      #expect(today.bool("has_more_overdue") == true && today.object("stats").int("overdue_count") == 30)
    }
  }
}
