import Database
import Foundation
import Support
import Testing

/// Profiles in the formats of the apps.
@Suite struct ProfileTests {
  @Test(arguments: engines) func aProfileIsReadAndChangedByNumber(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let path = "/api/v1/users/profile"
      let changes = [
        "name": "Alice Liddell", "timezone": "Europe/Oslo", "locale": "nb", "avatar_url": "https://a.example/1",
      ]
      for body in [changes, ["user": changes]] as [[String: any Sendable]] {
        let reply = try await alice.send(.PATCH, path, json: body)
        let user = try #require(reply["user"] as? [String: Any])
        #expect(reply.status == 200 && user["name"] as? String == "Alice Liddell")
        #expect(user["timezone"] as? String == "Europe/Oslo" && user["locale"] as? String == "nb")
      }
      #expect(try await alice.send(.PUT, path, json: ["avatar_url": ""]).status == 200)
      let user = try #require(try await alice.get(path)["user"] as? [String: Any])
      #expect(user["avatar_url"] is NSNull && user["name"] as? String == "Alice Liddell")
      for (field, value) in [
        ("timezone", "Mars/Olympus"), ("locale", "no such language"), ("avatar_url", "javascript:alert(1)"),
        ("name", String(repeating: "x", count: 121)), ("name", "Al\(characterWithMarks)"),
      ] {
        let reply = try await alice.send(.PATCH, path, json: [field: value])
        #expect(reply.status == 422, "\(field)")
        #expect((reply["errors"] as? [[String: Any]])?.first?["field"] as? String == field)
      }
      #expect(try await alice.delete(path).status == 200)
      #expect(try await alice.get(path).status == 401)
    }
  }

  @Test(arguments: engines) func appsWithPrefixedIdsSeeOnlyThemselves(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let me = try #require(try await alice.browser.get("/users/me")["data"] as? [String: Any])
      #expect(me["id"] as? String == "user_\(alice.id)" && (me["createdAt"] as? String)?.contains(".") == true)
      #expect(try await alice.browser.get("/users/user_\(alice.id)").status == 200)
      #expect(try await alice.browser.get("/users/user_\(bob.id)").status == 403)
      #expect(try await alice.browser.send(.PATCH, "/users/\(bob.id)", json: ["name": "Mallory"]).status == 403)
      let language = try await alice.browser.send(.PATCH, "/users/me/language", json: ["locale": "pt-BR"])
      #expect((language["data"] as? [String: Any])?["locale"] as? String == "pt-BR")
      #expect(try await alice.browser.send(.PATCH, "/users/me/language", json: ["locale": "xx"]).status == 400)
      for name in ["A", "Al\(characterWithMarks)"] {
        #expect(try await alice.browser.send(.PATCH, "/users/me", json: ["name": name]).status == 400)
      }
      let all = try await alice.browser.get("/users")
      #expect((all["data"] as? [Any])?.count == 1 && all.int("count") == 1)
      #expect(try await alice.browser.post("/users", ["userId": "user_\(bob.id)"]).status == 403)
      #expect(try await alice.browser.post("/users", ["name": "Alice L"]).status == 201)
      #expect(try await stack.gateway.get("/users/me").status == 401)
    }
  }
}
