import Database
import Foundation
import Support
import Testing

/// Two clients that are offline most of the time.
@Suite struct OfflineTests {
  /// A client with a local copy of a list, and changes that it has not sent yet.
  private struct Phone {
    let name: String
    let browser: Browser
    let list: Int
    var tasks: [Int: [String: Any]] = [:]
    var cursor: String?
    var outbox: [PendingChange] = []
    private var made = 0

    init(_ name: String, _ browser: Browser, _ list: Int) {
      self.name = name
      self.browser = browser
      self.list = list
    }

    enum PendingChange {
      case create(clientID: String, title: String)
      case retitle(Int, String)
      case complete(Int)
      case reopen(Int)
      case move(Int, behind: Int)
      case delete(Int)
    }

    /// Adds a random change of the local copy, to be sent later.
    mutating func act(_ random: inout SeededRandom) {
      let known = tasks.keys.sorted()
      guard let id = known.randomElement(using: &random), let other = known.randomElement(using: &random),
        known.count > 3, Int.random(in: 0..<10, using: &random) > 2
      else {
        made += 1
        return outbox.append(.create(clientID: "\(name)-\(made)", title: "\(name) \(made)"))
      }
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2: outbox.append(.retitle(id, "\(name) \(Int.random(in: 0..<1000, using: &random))"))
      case 3...4: outbox.append(.complete(id))
      case 5: outbox.append(.reopen(id))
      case 6...7: if other != id { outbox.append(.move(id, behind: other)) }
      default: outbox.append(.delete(id))
      }
    }

    /// Sends all changes, some of them twice as after a lost response, then reads the changes of others.
    mutating func sync(_ random: inout SeededRandom) async throws {
      for change in outbox {
        let times = Int.random(in: 0..<6, using: &random) == 0 ? 2 : 1
        for _ in 0..<times { try await send(change) }
      }
      outbox = []
      try await pull()
    }

    private func send(_ change: PendingChange) async throws {
      let reply =
        switch change {
        case .create(let clientID, let title):
          try await browser.post("/api/v1/lists/\(list)/tasks", ["task": ["title": title, "client_id": clientID]])
        case .retitle(let id, let title): try await browser.put("/api/v1/tasks/\(id)", ["task": ["title": title]])
        case .complete(let id): try await browser.post("/api/v1/tasks/\(id)/complete")
        case .reopen(let id): try await browser.post("/api/v1/tasks/\(id)/reopen")
        case .move(let id, let other): try await browser.post("/api/v1/tasks/\(id)/reorder", ["after_id": other])
        case .delete(let id): try await browser.delete("/api/v1/tasks/\(id)")
        }
      // A task that the other client has deleted is not found, and cannot be the destination of a move.
      let allowed = [200, 201, 404, 422]
      guard allowed.contains(reply.status) else { throw Unexpected(reply: reply.text) }
    }

    mutating func pull() async throws {
      var hasMore = true
      while hasMore {
        let news = try await browser.get("/api/v1/lists/\(list)/tasks\(cursor.map { "?since=\($0)" } ?? "")")
        for task in news.objects("tasks") { if let id = task.int("id") { tasks[id] = task } }
        for id in news.tombstones { tasks[id] = nil }
        cursor = news.string("cursor")
        hasMore = news.bool("has_more") ?? false
      }
    }

    /// The local copy as the app displays it, in order.
    var screen: [String] {
      tasks.values.sorted {
        ($0.int("position") ?? 0, $0.int("id") ?? 0) < ($1.int("position") ?? 0, $1.int("id") ?? 0)
      }
      .map { "\($0.int("id") ?? 0) \($0.string("title")) \($0.string("status")) \($0.int("version") ?? 0)" }
    }
  }

  @Test(arguments: engines) func aThousandStepsConverge(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.makeList()
      try await alice.browser.share(list, with: "bob")
      // Without the gateway and its rate limits, because a thousand steps are many requests.
      var phones = [
        Phone("alice", stack.lists.bearing(alice.access), list), Phone("bob", stack.lists.bearing(bob.access), list),
      ]
      var random = SeededRandom(seed: 20_261_121)
      for _ in 0..<1000 {
        let one = Int.random(in: 0...1, using: &random)
        if Int.random(in: 0..<12, using: &random) == 0 {
          try await phones[one].sync(&random)
        } else {
          phones[one].act(&random)
        }
      }
      for index in [0, 1, 0] { try await phones[index].sync(&random) }
      #expect(phones[0].screen == phones[1].screen)
      #expect(phones[0].tasks.count > 20)
      var fresh = Phone("fresh", stack.lists.bearing(alice.access), list)
      try await fresh.pull()
      #expect(fresh.screen == phones[0].screen)
      // Every `client_id` exists once, and the counts match the tasks.
      let clientIDs = fresh.tasks.values.map { $0.string("client_id") }
      #expect(Set(clientIDs).count == clientIDs.count)
      let shown = try await alice.browser.get("/api/v1/lists/\(list)").object("list")
      #expect(shown.int("tasks_count") == fresh.tasks.count)
      #expect(shown.int("completed_tasks_count") == fresh.tasks.values.count { $0.string("status") == "done" })
    }
  }
}
