import Database
import Foundation
import Support
import Testing

/// One's own account as the one row of the table `users`, through the gateway.
@Suite struct UserTableTests {
  private func read(_ user: SignedInUser, _ query: String = "") async throws -> Browser.Reply {
    try await user.browser.get("/rest/v1/users\(query)")
  }

  private func change(_ user: SignedInUser, _ query: String, _ body: String) async throws -> Browser.Reply {
    try await user.browser.send(.PATCH, "/rest/v1/users\(query)", body: Data(body.utf8))
  }

  @Test(arguments: engines) func everybodyReadsAndChangesTheirOwnRow(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await stack.signIn("bob")
      let row = try #require(try await read(alice).list.first)
      #expect(Set(row.keys) == ["id", "email", "display_name", "avatar_url", "created_at", "updated_at"])
      #expect(row["id"] as? String == alice.id.description && row["email"] as? String == "alice@example.com")
      #expect(row["avatar_url"] is NSNull && row["updated_at"] as? String == row["created_at"] as? String)

      stack.clock.advance(by: .seconds(60))
      let changed = try await change(
        alice, "?id=eq.\(alice.id)", #"{"display_name":" Alice A. ","avatar_url":"https://example.com/a.png"}"#)
      #expect(changed.status == 200 && changed.list.count == 1)
      #expect(changed.list[0]["display_name"] as? String == "Alice A.")
      #expect(changed.list[0]["avatar_url"] as? String == "https://example.com/a.png")
      #expect(changed.list[0]["updated_at"] as? String != row["updated_at"] as? String)
      #expect(try await alice.browser.get("/api/v1/auth/me").string("display_name") == "Alice A.")
      let stored = "http://127.0.0.1:8080/storage/v1/object/public/avatars/\(alice.id)/a.png"
      let file = try await change(alice, "?id=eq.\(alice.id)&select=avatar_url", #"{"avatar_url":"\#(stored)"}"#)
      #expect(file.list.first?["avatar_url"] as? String == stored)
      let cleared = try await change(
        alice, "?id=eq.\(alice.id)&select=display_name,avatar_url", #"{"display_name":null,"avatar_url":null}"#)
      #expect(cleared.text == #"[{"display_name":null,"avatar_url":null}]"#)
    }
  }

  @Test(arguments: engines) func otherRowsAndColumnsAreOutOfReach(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      for query in ["?id=eq.\(bob.id)", "?email=eq.bob@example.com", "?id=neq.\(alice.id)"] {
        #expect(try await read(alice, query).text == "[]")
        #expect(try await change(alice, query, #"{"display_name":"Mallory"}"#).text == "[]")
      }
      #expect(try await read(alice, "?select=count").text == #"[{"count":1}]"#)
      for (body, code) in [
        (#"{"email":"x@example.com"}"#, "42501"), (#"{"avatar_url":"http://example.com/a"}"#, "23514"),
        (#"{"avatar_url":"javascript:1"}"#, "23514"), (#"{"display_name":"a\nb"}"#, "23514"),
        (#"{"display_name":"\#(String(repeating: "x", count: 121))"}"#, "23514"), (#"{"password":"x"}"#, "PGRST204"),
        (#"{"id":"\#(bob.id)","display_name":"x"}"#, "42501"),
      ] {
        let refused = try await change(alice, "?id=eq.\(alice.id)", body)
        #expect(refused.string("code") == code, "\(body) \(refused.text)")
        #expect(refused["details"] != nil && refused["hint"] != nil && refused["error"] != nil)
      }
      #expect(try await change(alice, "", #"{"display_name":"x"}"#).string("code") == "21000")
      #expect(try await read(alice, "?deactivated_at=is.null").string("code") == "42703")
      #expect(try await read(alice, "?select=email,identity(*)").string("code") == "PGRST200")
      let path = "/rest/v1/users?id=eq.\(alice.id)"
      #expect(try await alice.browser.post("/rest/v1/users", ["display_name": "x"]).status == 405)
      #expect(try await alice.browser.delete(path).status == 405)
      #expect(try await alice.browser.send(.PUT, path, body: Data("{}".utf8)).status == 405)
      #expect(try await stack.gateway.get("/rest/v1/users").status == 401)
      #expect(try await bob.browser.get("/api/v1/auth/me").string("display_name") == "bob")
    }
  }
}
