import Database
import Foundation
import Support
import Testing
import Wire

/// Services that are killed, each a process of its own.
@Suite struct EventCrashTests {
  /// Killed while the events service does not answer, right after its responses: what it has acknowledged arrives.
  @Test(arguments: engines) func nothingIsLostWhenTheProducerIsKilled(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let receiver = EventsReceiver()
      receiver.behavior = .unreliable
      try await running([receiver.server()]) {
        let port = try await receiver.url.split(separator: ":").last.map(String.init) ?? ""
        let processes = try ServiceProcesses(
          ["gateway", "auth", "invites", "groups", "lists", "credits"], in: testDatabase, ["EVENTS_PORT": port])
        try await processes.all["lists"]?.healthy("/health/ready")
        try await processes.all["auth"]?.healthy("/health/ready")
        try await processes.all["gateway"]?.healthy("/health/live")
        let reply = try await processes.gateway.with(["X-Admin-Key": TestStack.adminKey])
          .post("/api/v1/auth/dev/token", ["email": "alice@example.com", "display_name": "alice"])
        let alice = try await SignedInUser(reply, through: processes.gateway)
        let list = try await alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
        var acknowledged: [Int] = []
        var lists = try #require(processes.all["lists"])
        for round in 1...3 {
          if round == 2 { receiver.behavior = .hanging }
          for number in 1...10 {
            let task: [String: any Sendable] = ["title": "Task \(round).\(number)"]
            acknowledged.append(
              try await alice.browser.done(.POST, "/api/v1/lists/\(list)/tasks", ["task": task]).id(of: "task"))
          }
          await lists.kill()
          receiver.behavior = .unreliable
          lists = try processes.restart("lists")
          try await lists.healthy("/health/ready")
        }
        try await eventually("all events; there are \(receiver.events.count)") {
          receiver.events(on: "lists:\(list)").count == acknowledged.count
        }
        #expect(receiver.events(on: "lists:\(list)").compactMap { $0.number("task_id") } == acknowledged)
        for process in processes.all.values where process.environment["PORT"] != lists.environment["PORT"] {
          _ = await process.stop()
        }
        _ = await lists.stop()
      }
    }
  }
}
