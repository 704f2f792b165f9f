import Database
import Foundation
import Support
import Testing
import Wire

/// From the change of one user to the open stream of another: all services, real sockets.
@Suite struct EventStoryTests {
  @Test(arguments: engines) func whatBobDoesArrivesAtAlicesStream(engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      let path = "/api/v1/lists/\(list)"
      let member = try await alice.browser.done(
        .POST, "\(path)/memberships", ["membership": ["user_identifier": "bob@example.com", "role": "editor"]]
      ).id(of: "membership")
      let task = try await alice.browser.done(.POST, "\(path)/tasks", ["task": ["title": "Milk"]]).id(of: "task")

      var stream = try await EventStreamClient(
        stack.events, "topic=lists:\(list)", token: alice.access, lastEventID: "0")
      #expect(stream.status == 200)
      #expect(try await stream.next(2).map(\.name) == ["member_joined", "task_created"])
      try await bob.browser.done(.POST, "/api/v1/tasks/\(task)/complete")
      let completed = try #require(try await stream.next())
      #expect(completed.name == "task_completed" && completed.seq == 3)
      #expect(((completed.json["payload"] as? [String: Any])?["task_id"] as? NSNumber)?.intValue == task)

      // Who is removed reads no more.
      try await alice.browser.done(.DELETE, "\(path)/memberships/\(member)")
      #expect(try await stream.next()?.name == "member_removed")
      let stranger = try await EventStreamClient(stack.events, "topic=lists:\(list)", token: bob.access)
      #expect(stranger.status == 403)
    }
  }
}
