import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Invites

/// Links to groups, for a limited or unlimited number of uses.
@Suite struct GroupLinkTests {
  @Test(arguments: engines) func aLinkLetsInAsManyAsItSays(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let guests = try await atOnce(8) { try await stack.signIn("guest\($0)") }
      let group = try await alice.group()
      let path = "/api/groups/\(group)/invites"
      let made = try await alice.browser.post(path, ["max_uses": 3])
      #expect(made.status == 201 && made.int("max_uses") == 3 && made.bool("usable") == true)
      let code = made.string("code")
      #expect(code.wholeMatch(of: /[A-Z2-9]{8}/) != nil)
      #expect(made.string("invite_url").hasSuffix("/i/\(code)"))
      let statuses = try await atOnce(8) { try await guests[$0].browser.post("/api/invites/redeem/\(code)").status }
      #expect(statuses.count { $0 == 200 } == 3)
      #expect(statuses.count { $0 == 404 } == 5)
      let listed = try #require((try await alice.browser.get(path)["invites"] as? [[String: Any]])?.first)
      #expect(listed["uses_count"] as? Int == 3 && listed["usable"] as? Bool == false)
      #expect(listed["code"] as? String == code)
    }
  }

  /// A valid link is listed however many were revoked after it.
  @Test(arguments: engines) func whatWasTakenBackHidesNothing(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group()
      let path = "/api/groups/\(group)/invites"
      let good = try await alice.browser.post(path).string("id")
      let database = try await stack.testDatabase.open("invites", [])
      let store = InviteStore(database: database, keys: try stack.dependencies.settings.dataKeys())
      let id = try #require(GroupID(group))
      for index in 1...100 {
        let now = stack.clock.now + Double(index)
        try await database.write { db in
          let new = NewInvite(
            target: .group(id), inviter: alice.id, storesSealedToken: true, expiresAt: now + 86_400)
          let (made, _) = try store.add(new, token: InviteToken.linkCode, at: now, on: db)
          _ = try InviteStore.end(made.id, as: .revoked, at: now, on: db)
        }
      }
      await database.close()
      let listed = try await alice.browser.get(path)["invites"] as? [[String: Any]]
      #expect(listed?.map { $0["id"] as? String } == [good])
    }
  }

  @Test(arguments: engines) func termsAreKeptAndWhatIsWrongWithThemIsTold(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let group = try await alice.group()
      let path = "/api/groups/\(group)/invites"
      for terms in [
        ["max_uses": 0], ["max_uses": 1001], ["expires_at": "soon"], ["expires_at": "2001-01-01T00:00:00Z"],
        ["expires_at": "2999-01-01T00:00:00Z"],
      ] as [[String: any Sendable]] {
        #expect(try await alice.browser.post(path, terms).status == 422, "\(terms)")
      }
      #expect(try await bob.browser.post(path).status == 403)
      #expect(try await bob.browser.get(path).status == 403)
      let expiry = stack.clock.now + 600
      let made = try await alice.browser.post(path, ["expires_at": expiry.formatted(.iso8601)])
      #expect(made.status == 201 && made["max_uses"] is NSNull)
      let code = made.string("code")
      #expect(try await bob.browser.post("/api/invites/redeem/\(code)").status == 200)
      let own = try await bob.browser.post(path, ["max_uses": 2])
      #expect(own.status == 201)
      // The inviter may revoke a link, and the owner any link.
      let first = "\(path)/\(made.string("id"))"
      #expect(try await bob.browser.delete(first).status == 403)
      #expect(try await alice.browser.delete("\(path)/\(own.string("id"))").status == 204)
      #expect(try await carol.browser.post("/api/invites/redeem/\(own.string("code"))").status == 404)
      stack.clock.advance(by: .seconds(600))
      let late = try await stack.signIn("late")
      #expect(try await late.browser.post("/api/invites/redeem/\(code)").status == 404)
    }
  }
}
