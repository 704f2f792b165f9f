import Database
import Foundation
import Support
import Testing
import Wire

/// Links to lists.
@Suite struct ListLinkTests {
  private func list(of user: SignedInUser, _ name: String = "Groceries") async throws -> Int {
    let made = try await user.browser.post("/api/v1/lists", ["list": ["name": name]])
    guard let id = (made["list"] as? [String: Any])?["id"] as? Int else { throw Unexpected(reply: made.text) }
    return id
  }

  @Test(arguments: engines) func aLinkShowsAListAndLetsPeopleIn(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let id = try await list(of: alice)
      let path = "/api/v1/lists/\(id)/invites"
      let terms: [String: any Sendable] = ["role": "editor", "max_uses": 2]
      let made = try await alice.browser.post(path, ["invite": terms])
      #expect(made.status == 201)
      let link = try #require(made["invite"] as? [String: Any])
      let code = try #require(link["code"] as? String)
      #expect(code.count == 8 && link["role"] as? String == "editor" && link["usable"] as? Bool == true)
      #expect((link["id"] as? Int ?? 0) > 0)
      #expect((link["invite_url"] as? String)?.hasSuffix("/i/\(code)") == true)
      #expect((link["expires_at"] as? String)?.wholeMatch(of: /.*\.\d{3}Z/) != nil)

      let preview = try await stack.gateway.get("/api/v1/invites/\(code.lowercased())")
      #expect(preview.status == 200)
      let seen = try #require(preview["invite"] as? [String: Any])
      #expect((seen["list"] as? [String: Any])?["name"] as? String == "Groceries")
      #expect((seen["inviter"] as? [String: String]) == ["name": "alice"])
      #expect(seen["usable"] as? Bool == true && seen["expired"] as? Bool == false)
      let page = try await stack.gateway.get("/i/\(code)")
      #expect(page.status == 200 && page.text.contains("to the list “Groceries”"))
      #expect(page.headers["referrer-policy"] == ["no-referrer"])

      let accepted = try await bob.browser.post("/api/v1/invites/\(code)/accept")
      #expect(accepted.status == 200 && !accepted.string("message").isEmpty)
      let joined = try #require(accepted["list"] as? [String: Any])
      #expect(joined["id"] as? Int == id && joined["visibility"] is String && joined["name"] as? String == "Groceries")
      #expect((accepted["membership"] as? [String: Any])?["role"] as? String == "editor")
      #expect(try await bob.browser.get("/api/v1/lists/\(id)").status == 200)
      let again = try await bob.browser.post("/api/v1/invites/\(code)/accept")
      #expect(again.status == 409 && again.string("code") == "already_member")
      let own = try await alice.browser.post("/api/v1/invites/\(code)/accept")
      #expect(own.status == 422 && own.string("code") == "already_owner")
      let listed = try #require((try await alice.browser.get(path)["invites"] as? [[String: Any]])?.first)
      #expect(listed["uses_count"] as? Int == 1)
    }
  }

  @Test(arguments: engines) func whoIsInTooManyListsTakesNobodysPlace(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let id = try await list(of: alice)
      let made = try await alice.browser.post("/api/v1/lists/\(id)/invites", ["invite": ["max_uses": 1]])
      let code = try #require((made["invite"] as? [String: Any])?["code"] as? String)
      let database = try await stack.testDatabase.open("lists", [])
      let (member, now) = (bob.id, stack.clock.now)
      try await database.write { db in
        for _ in 0..<500 {
          let row = try db.row(
            """
            insert into list (owner_id, name, visibility, color, created_at, updated_at)
            values (\(UserID.new(at: now)), 'Theirs', 'private', 'blue', \(now), \(now)) returning id
            """)
          let list: Int = try row?.get("id") ?? 0
          try db.change(
            """
            insert into membership (list_id, user_id, role, created_at, updated_at)
            values (\(list), \(member), 'viewer', \(now), \(now))
            """)
        }
      }
      let refused = try await bob.browser.post("/api/v1/invites/\(code)/accept")
      #expect(refused.status == 409 && refused.string("code") == "too_many_lists")
      let seen = try await stack.gateway.get("/api/v1/invites/\(code)")["invite"] as? [String: Any]
      #expect(seen?["usable"] as? Bool == true)
      try await database.write { db in
        try db.change(
          "delete from membership where id = (select max(id) from membership where user_id = \(member))")
      }
      #expect(try await bob.browser.post("/api/v1/invites/\(code)/accept").status == 200)
      await database.close()
    }
  }

  @Test(arguments: engines) func fiftyWhoAcceptALinkForThreeAreThree(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let guests = try await atOnce(50) { try await stack.signIn("guest\($0)") }
      let id = try await list(of: alice)
      let made = try await alice.browser.post("/api/v1/lists/\(id)/invites", ["invite": ["max_uses": 3]])
      let code = try #require((made["invite"] as? [String: Any])?["code"] as? String)
      let statuses = try await atOnce(50) { try await guests[$0].browser.post("/api/v1/invites/\(code)/accept").status }
      #expect(statuses.count { $0 == 200 } == 3)
      #expect(statuses.count { $0 == 410 } == 47)
      let seen = try await stack.gateway.get("/api/v1/invites/\(code)")["invite"] as? [String: Any]
      #expect(seen?["exhausted"] as? Bool == true && seen?["usable"] as? Bool == false)
    }
  }

  @Test(arguments: engines) func onlyTheOwnerMakesLinksAndTakesThemBack(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let id = try await list(of: alice)
      let path = "/api/v1/lists/\(id)/invites"
      func code(_ terms: [String: any Sendable] = [:]) async throws -> (code: String, id: String) {
        let made = try await alice.browser.post(path, ["invite": terms])
        let link = made["invite"] as? [String: Any]
        guard let code = link?["code"] as? String else { throw Unexpected(reply: made.text) }
        return (code, (link?["id"] as? Int).map(String.init) ?? "")
      }
      let first = try await code()
      #expect(try await bob.browser.post("/api/v1/invites/\(first.code)/accept").status == 200)
      for (user, status) in [(bob, 403), (carol, 404)] {
        #expect(try await user.browser.post(path, ["invite": ["role": "viewer"]]).status == status)
        #expect(try await user.browser.get(path).status == status)
        #expect(try await user.browser.delete(path).status == status)
        #expect(try await user.browser.delete("\(path)/\(first.id)").status == status)
      }
      for terms in [["role": "owner"], ["max_uses": 0], ["expires_at": "soon"]] as [[String: any Sendable]] {
        let refused = try await alice.browser.post(path, ["invite": terms])
        #expect(refused.status == 422 && refused.string("code") == "validation_error", "\(terms)")
      }
      #expect(try await stack.gateway.post(path).status == 401)
      #expect(try await alice.browser.delete("\(path)/\(first.id)").status == 204)
      #expect(try await stack.gateway.get("/api/v1/invites/\(first.code)").status == 404)
      #expect(try await carol.browser.post("/api/v1/invites/\(first.code)/accept").status == 410)
      let (second, third) = (try await code(), try await code())
      #expect(try await alice.browser.delete(path).status == 204)
      for code in [second.code, third.code] {
        #expect(try await carol.browser.post("/api/v1/invites/\(code)/accept").status == 410)
      }
      let late = try await code()
      stack.clock.advance(by: .seconds(7 * 86_400))
      let seen = try await stack.gateway.get("/api/v1/invites/\(late.code)")["invite"] as? [String: Any]
      #expect(seen?["expired"] as? Bool == true && seen?["usable"] as? Bool == false)
      let dora = try await stack.signIn("dora")
      #expect(try await dora.browser.post("/api/v1/invites/\(late.code)/accept").status == 410)
      #expect(try await dora.browser.post("/api/v1/invites/ZZZZZZZZ/accept").status == 404)
    }
  }
}
