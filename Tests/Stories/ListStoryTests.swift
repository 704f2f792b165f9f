import Database
import Foundation
import Support
import Testing

/// The lists app, end to end: all services, through the gateway.
@Suite struct ListStoryTests {
  @Test(arguments: engines) func twoPeopleShareAList(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let credentials = ["email": "alice@example.com", "password": "correct horse"]
      #expect(try await stack.gateway.post("/api/v1/auth/sign_up", ["user": credentials]).status == 201)
      let signedIn = try await stack.gateway.post("/api/v1/auth/sign_in", credentials)
      #expect(signedIn.status == 200 && signedIn.string("message") == "Login successful")
      let number = try #require((signedIn["user"] as? [String: Any])?["id"] as? Int)
      let alice = stack.gateway.bearing(signedIn.string("token"))
      let bob = try await stack.signIn("bob").browser

      #expect(try await alice.get("/api/v1/lists").text.contains(#""lists":[]"#))
      let made = try await alice.post(
        "/api/v1/lists", ["list": ["name": "New List", "description": "List description"]])
      #expect(made.status == 201)
      let list = try #require(made["list"] as? [String: Any])
      let owner = try #require(list["owner"] as? [String: Any])
      #expect(owner["id"] as? Int == number && owner["email"] as? String == "alice@example.com")
      let path = "/api/v1/lists/\(try #require(list["id"] as? Int))"
      let tasks = "\(path)/tasks"
      for title in ["Milk", "Bread"] {
        #expect(try await alice.post(tasks, ["task": ["title": title]]).status == 201)
      }
      #expect(try await bob.get(tasks).status == 404)
      let shared = try await alice.post(
        "\(path)/memberships", ["membership": ["user_identifier": "bob@example.com", "role": "editor"]])
      #expect(shared.status == 201)

      // Both users add tasks at the same time.
      let users = [alice, bob]
      let statuses = try await atOnce(20) { index in
        try await users[index % 2].post(tasks, ["task": ["title": "\(index)"]]).status
      }
      #expect(statuses.allSatisfy { $0 == 201 })
      let shown = try await bob.get(path)
      let body = try #require(shown["list"] as? [String: Any])
      #expect(body["role"] as? String == "editor" && body["tasks_count"] as? Int == 22)
      #expect(body["members_count"] as? Int == 1 && (body["tasks"] as? [Any])?.count == 22)

      // After the sign-out alice's token is rejected; bob can still read the list.
      let signedOut = try await alice.delete("/api/v1/auth/sign_out")
      #expect(signedOut.status == 200 && signedOut.string("message") == "Logout successful")
      let refused = try await alice.get("/api/v1/lists")
      #expect(refused.status == 401 && refused.headers.first(name: "www-authenticate")?.hasPrefix("Bearer") == true)
      #expect(try await bob.get("/api/v1/lists").status == 200)
    }
  }
}
