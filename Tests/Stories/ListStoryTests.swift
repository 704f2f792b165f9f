import Database
import Foundation
import Support
import Testing

/// The app's story with lists, everything up, through the gateway.
@Suite struct ListStoryTests {
  @Test(arguments: engines) func twoPeopleShareAList(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      #expect(try await alice.browser.get("/api/v1/lists").text.contains(#""lists":[]"#))
      let made = try await alice.browser.post(
        "/api/v1/lists", ["list": ["name": "New List", "description": "List description"]])
      #expect(made.status == 201)
      let list = try #require((made["list"] as? [String: Any])?["id"] as? Int)
      let tasks = "/api/v1/lists/\(list)/tasks"
      for title in ["Milk", "Bread"] {
        #expect(try await alice.browser.post(tasks, ["task": ["title": title]]).status == 201)
      }
      #expect(try await bob.browser.get(tasks).status == 404)
      let shared = try await alice.browser.post(
        "/api/v1/lists/\(list)/memberships",
        ["membership": ["user_identifier": "bob@example.com", "role": "editor"]])
      #expect(shared.status == 201)

      // Both edit at the same time.
      let users = [alice, bob]
      let statuses = try await atOnce(20) { index in
        try await users[index % 2].browser.post(tasks, ["task": ["title": "\(index)"]]).status
      }
      #expect(statuses.allSatisfy { $0 == 201 })
      let shown = try await bob.browser.get("/api/v1/lists/\(list)")
      let body = try #require(shown["list"] as? [String: Any])
      #expect(body["role"] as? String == "editor" && body["tasks_count"] as? Int == 22)
      #expect(body["members_count"] as? Int == 1 && (body["tasks"] as? [Any])?.count == 22)

      // Signed out, the token is worth nothing; the list stays bob's to see.
      #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
      #expect(try await alice.browser.get("/api/v1/lists").status == 401)
      #expect(try await bob.browser.get("/api/v1/lists").status == 200)
    }
  }
}
