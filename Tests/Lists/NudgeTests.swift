import Database
import Foundation
import Support
import Testing

/// Reminders of tasks, and friends.
@Suite struct NudgeTests {
  @Test(arguments: engines) func theAssigneeIsNudgedOnceInTenMinutes(engine: Engine) async throws {
    try await withStack(engine) { stack in
      var (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.makeList()
      let members = "/api/v1/lists/\(list)/memberships"
      let added = try await alice.browser.post(
        members, body("membership", ["user_identifier": "bob@example.com", "role": "editor"]))
      #expect(added.status == 201)
      let made = try await alice.browser.post("/api/v1/lists/\(list)/tasks", body("task", ["title": "Milk"]))
      let task = try #require(made.object("task").int("id"))
      let (nudge, nested) = ("/api/v1/tasks/\(task)/nudge", "/api/v1/lists/\(list)/tasks/\(task)/nudge")
      // To nobody.
      #expect(try await alice.browser.post(nudge).status == 422)
      let assigned = try await alice.browser.post(
        "/api/v1/tasks/\(task)/assign", ["assigned_to": "bob@example.com"])
      #expect(assigned.status == 200)
      #expect(try await bob.browser.post(nudge).status == 422)
      let nudged = try await alice.browser.post(nudge)
      #expect(nudged.status == 200 && nudged.object("task").int("id") == task)
      let again = try await alice.browser.post(nested)
      #expect(again.status == 429 && again.headers.first(name: "retry-after").flatMap { Int($0) } ?? 0 > 500)
      stack.clock.advance(by: .seconds(601))
      #expect(try await alice.browser.post(nested).status == 200)
      // Of many at once one succeeds.
      stack.clock.advance(by: .seconds(601))
      (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let statuses = try await atOnce(8) { [alice] _ in try await alice.browser.post(nudge).status }
      #expect(statuses.filter { $0 == 200 }.count == 1 && statuses.filter { $0 == 429 }.count == 7)
      stack.clock.advance(by: .seconds(601))
      (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      #expect(try await bob.browser.post("/api/v1/tasks/\(task)/complete").status == 200)
      #expect(try await alice.browser.post(nudge).status == 422)
      #expect(try await stack.signIn("carol").browser.post(nudge).status == 404)
      #expect(try await stack.gateway.post(nudge).status == 401)
    }
  }

  @Test(arguments: engines) func friendsShareAListUntilTheyAreRemoved(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      func friends(_ user: SignedInUser) async throws -> [String] {
        let reply = try await user.browser.get("/api/v1/friends")
        #expect(reply.status == 200)
        return reply.objects("friends").map { $0.string("name") }
      }
      #expect(try await friends(alice) == [])
      let list = try await alice.browser.makeList()
      for name in ["carol", "bob"] {
        let added = try await alice.browser.post(
          "/api/v1/lists/\(list)/memberships",
          body("membership", ["user_identifier": "\(name)@example.com", "role": "viewer"]))
        #expect(added.status == 201)
      }
      #expect(try await friends(alice) == ["bob", "carol"])
      #expect(try await friends(bob) == ["alice", "carol"])
      let decoded = try await bob.browser.get("/api/v1/friends").read(ListsApp.Friends.self).friends
      #expect(decoded.map(\.name) == ["alice", "carol"] && decoded.allSatisfy { $0.id > 0 })
      let found = try await bob.browser.get("/api/v1/friends").objects("friends")
      #expect(found.allSatisfy { ($0.int("id") ?? 0) > 0 && $0.string("email") == "" })
      #expect(try await bob.browser.post("/users/\(carol.id)/block").status == 200)
      #expect(try await friends(bob) == ["alice"])
      let number = try #require(found.first { $0.string("name") == "alice" }?.int("id"))
      #expect(try await bob.browser.delete("/api/v1/friends/\(number)").status == 204)
      #expect(try await bob.browser.delete("/api/v1/friends/\(number)").status == 404)
      #expect(try await friends(bob) == [])
      #expect(try await friends(alice) == ["bob", "carol"])
      #expect(try await stack.gateway.get("/api/v1/friends").status == 401)
    }
  }
}
