import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Direct invites: invites to lists for one user or e-mail address.
@Suite struct DirectInviteTests {
  private func client(_ stack: TestStack) -> InvitesClient { InvitesClient(in: stack.dependencies(of: "lists")) }

  private func waiting(for user: SignedInUser) async throws -> [[String: Any]] {
    let reply = try await user.browser.get("/api/v1/invites")
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    return reply["invites"] as? [[String: Any]] ?? []
  }

  @Test(arguments: engines) func whoeverItWaitsForSeesItAndComesIn(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let list = try await stack.list(of: alice)
      let made = try await client(stack).invite(
        .init(list: list, role: "editor", invitedBy: alice.id, invitee: .user(bob.id)))
      #expect(made.role == "editor" && made.url.hasSuffix("/i/\(made.code)") && made.number > 0)
      let seen = try await waiting(for: bob)
      let invite = try #require(seen.first)
      #expect(seen.count == 1 && invite["id"] as? Int == made.number && invite["code"] as? String == made.code)
      #expect((invite["list"] as? [String: Any])?["name"] as? String == "Groceries")
      #expect((invite["list"] as? [String: Any])?["id"] as? Int == list)
      #expect(invite["inviter"] as? [String: String] == ["name": "alice"] && invite["usable"] as? Bool == true)
      #expect(try await waiting(for: carol).isEmpty)
      #expect(try await stack.gateway.get("/api/v1/invites").status == 401)
      // Neither the number nor the code lets another user join, and the number reveals nothing.
      for name in ["\(made.number)", "\(made.number + 1)"] {
        for action in ["accept", "decline"] {
          let refused = try await carol.browser.post("/api/v1/invites/\(name)/\(action)")
          #expect(refused.status == 404 && refused.string("code") == "invite_not_found")
        }
      }
      #expect(try await carol.browser.post("/api/v1/invites/\(made.code)/accept").status == 403)
      #expect(try await carol.browser.post("/api/v1/invites/\(made.code)/decline").status == 404)
      let joined = try await bob.browser.post("/api/v1/invites/\(made.number)/accept")
      #expect(joined.status == 200, "\(joined.text)")
      #expect((joined["membership"] as? [String: Any])?["role"] as? String == "editor")
      #expect(try await waiting(for: bob).isEmpty)
      #expect(try await bob.browser.post("/api/v1/invites/\(made.number)/accept").status == 410)
      // The inviter sees it among the links.
      let links = try await alice.browser.get("/api/v1/lists/\(list)/invites")["invites"] as? [[String: Any]]
      #expect(links?.map { $0["id"] as? Int } == [made.number])
    }
  }

  @Test(arguments: engines) func anAddressMustBeProven(engine: Engine) async throws {
    // With a mail server, an unverified address belongs to nobody.
    let mail = ["SMTP_URL": "smtp://127.0.0.1:1", "MAIL_FROM": "kith@example.com"]
    try await withStack(engine, mail) { stack in
      let alice = try await stack.signIn("alice")
      // Mallory has signed up with the address without verifying it; Carol has verified it.
      let mallory = try await stack.signIn("carol")
      let list = try await stack.list(of: alice)
      let ask = InviteToList(list: list, role: "viewer", invitedBy: alice.id, invitee: .email(" CAROL@Example.com"))
      let made = try await client(stack).invite(ask)
      #expect(try await waiting(for: mallory).isEmpty)
      for name in ["\(made.number)", made.code] {
        let refused = try await mallory.browser.post("/api/v1/invites/\(name)/accept")
        #expect(refused.status == (name == made.code ? 403 : 404))
      }
      let carol = try await stack.signInWithApple("carol")
      #expect(try await waiting(for: carol).map { $0["id"] as? Int } == [made.number])
      #expect(try await waiting(for: mallory).isEmpty)
      #expect(try await carol.browser.post("/api/v1/invites/\(made.number)/accept").status == 200)
      #expect(try await carol.browser.get("/api/v1/lists/\(list)").status == 200)
      let database = try await stack.testDatabase.open("invites", [])
      let kept = try await database.read { db in "\(try db.rows("select * from invite"))" }
      await database.close()
      #expect(!kept.lowercased().contains("carol@"))
    }
  }

  /// Without a mail server, the user who has signed up with an address counts as its owner.
  @Test(arguments: engines) func withoutMailAnAddressIsWhoseItIsSaidToBe(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let list = try await stack.list(of: alice)
      let made = try await client(stack).invite(
        .init(list: list, role: "viewer", invitedBy: alice.id, invitee: .email("bob@example.com")))
      let (bob, carol) = (try await stack.signIn("bob"), try await stack.signIn("carol"))
      #expect(try await waiting(for: bob).map { $0["id"] as? Int } == [made.number])
      #expect(try await waiting(for: carol).isEmpty)
      #expect(try await carol.browser.post("/api/v1/invites/\(made.code)/accept").status == 403)
      #expect(try await bob.browser.post("/api/v1/invites/\(made.number)/accept").status == 200)
    }
  }

  @Test(arguments: engines) func aDeclinedOneIsOver(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await stack.list(of: alice)
      let ask = InviteToList(list: list, role: "viewer", invitedBy: alice.id, invitee: .user(bob.id))
      let made = try await client(stack).invite(ask)
      let statuses = try await atOnce(10) { _ in
        try await bob.browser.post("/api/v1/invites/\(made.number)/decline").status
      }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(statuses.allSatisfy { [200, 409, 410].contains($0) })
      #expect(try await waiting(for: bob).isEmpty)
      #expect(try await bob.browser.post("/api/v1/invites/\(made.code)/accept").status == 410)
      #expect(try await bob.browser.get("/api/v1/lists/\(list)").status == 404)
      // A link for everybody is not a direct invite.
      let link = try await alice.browser.post("/api/v1/lists/\(list)/invites", ["invite": ["role": "viewer"]])
      let code = (link["invite"] as? [String: Any])?["code"] as? String ?? ""
      #expect(try await bob.browser.post("/api/v1/invites/\(code)/decline").status == 404)
      #expect(try await bob.browser.post("/api/v1/invites/\(code)/accept").status == 200)
    }
  }

  /// An inviter does not revoke another inviter's invite.
  @Test(arguments: engines) func eachInviterHasOneOpenForAPersonAndList(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let list = try await stack.list(of: alice)
      _ = try await stack.joinByLink(carol, to: list, of: alice)
      func invite(by user: SignedInUser, as role: String) async throws -> ListInvitation {
        try await client(stack).invite(.init(list: list, role: role, invitedBy: user.id, invitee: .user(bob.id)))
      }
      let owners = try await invite(by: alice, as: "editor")
      let replaced = try await invite(by: carol, as: "viewer")
      let editors = try await invite(by: carol, as: "viewer")
      let open = try await waiting(for: bob).compactMap { $0["id"] as? Int }
      #expect(open.sorted() == [owners.number, editors.number])
      #expect(try await bob.browser.post("/api/v1/invites/\(replaced.number)/accept").status == 410)
      let joined = try await bob.browser.post("/api/v1/invites/\(owners.number)/accept")
      #expect((joined["membership"] as? [String: Any])?["role"] as? String == "editor")
      let twice = try await bob.browser.post("/api/v1/invites/\(editors.number)/accept")
      #expect(twice.status == 409 && twice.string("code") == "already_member")
    }
  }

  /// Invites to an address are not listed, and nobody joins for whom the response could not be built.
  @Test(arguments: engines) func whileAuthIsAwayThoseByIDAreSeenAndNobodyComesIn(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (list, other) = (try await stack.list(of: alice), try await stack.list(of: alice, "Other"))
      let byID = try await client(stack).invite(
        .init(list: list, role: "viewer", invitedBy: alice.id, invitee: .user(bob.id)))
      _ = try await client(stack).invite(
        .init(list: other, role: "viewer", invitedBy: alice.id, invitee: .email("bob@example.com")))
      #expect(try await waiting(for: bob).count == 2)
      let path = "/api/v1/invites/\(byID.number)/accept"
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      #expect(try await waiting(for: bob).map { $0["id"] as? Int } == [byID.number])
      #expect(try await bob.browser.post(path).status == 503)
      #expect(try await stack.count("invite_use", in: "invites") == 0)
      stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
      #expect(try await bob.browser.get("/api/v1/lists/\(list)").status == 404)
      try await eventually("an answer") { try await bob.browser.post(path).status == 200 }
    }
  }

  /// Of ten concurrent invites to the same user and list, one stays open.
  @Test(arguments: engines) func oneIsOpenForEachPersonAndList(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await stack.list(of: alice)
      let ask = InviteToList(list: list, role: "viewer", invitedBy: alice.id, invitee: .user(bob.id))
      let made = try await atOnce(10) { _ in try await client(stack).invite(ask) }
      #expect(Set(made.map(\.number)).count == 10)
      let open = try await waiting(for: bob)
      #expect(open.count == 1)
      let over = try #require(made.first { $0.number != open[0]["id"] as? Int })
      #expect(try await bob.browser.post("/api/v1/invites/\(over.code)/accept").status == 410)
      let other = try await client(stack).invite(
        .init(
          list: try await stack.list(of: alice, "Other"), role: "viewer", invitedBy: alice.id, invitee: .user(bob.id)))
      #expect(try await waiting(for: bob).map { $0["id"] as? Int }.contains(other.number))
      #expect(try await waiting(for: bob).count == 2)
      // They do not count against the limit of links, and they expire.
      #expect(try await alice.browser.post("/api/v1/lists/\(list)/invites").status == 201)
      stack.clock.advance(by: .seconds(30 * 86_400))
      #expect(try await waiting(for: try await stack.signIn("bob")).isEmpty)
    }
  }

  @Test(arguments: engines) func noneIsShownThatLeadsNowhere(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      func invite(by user: SignedInUser, to list: Int) async throws -> ListInvitation {
        try await client(stack).invite(.init(list: list, role: "viewer", invitedBy: user.id, invitee: .user(bob.id)))
      }
      let (list, gone) = (try await stack.list(of: alice), try await stack.list(of: alice, "Gone"))
      _ = try await invite(by: carol, to: list)
      #expect(try await waiting(for: bob).isEmpty, "carol may not invite to it")
      let (made, deleted) = (try await invite(by: alice, to: list), try await invite(by: alice, to: gone))
      #expect(try await waiting(for: bob).count == 2)
      #expect(try await alice.browser.delete("/api/v1/lists/\(gone)").status == 204)
      #expect(try await waiting(for: bob).map { $0["id"] as? Int } == [made.number])
      #expect(try await bob.browser.post("/api/v1/invites/\(deleted.number)/accept").status == 404)
      // A block works in both directions, and until it is removed.
      for (blocker, blocked) in [(alice, bob), (bob, alice)] {
        #expect(try await blocker.browser.post("/users/\(blocked.id)/block").status == 200)
        #expect(try await waiting(for: bob).isEmpty)
        #expect(try await bob.browser.post("/api/v1/invites/\(made.number)/accept").status == 403)
        #expect(try await blocker.browser.delete("/users/\(blocked.id)/block").status == 200)
      }
      #expect(try await bob.browser.post("/api/v1/invites/\(made.number)/accept").status == 200)
    }
  }

  @Test(arguments: engines) func onlyListsMakeThemAndNotWithoutEnd(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let list = try await stack.list(of: alice)
      func ask(_ index: Int, role: String = "viewer") -> InviteToList {
        .init(list: list, role: role, invitedBy: alice.id, invitee: .email("guest\(index)@example.com"))
      }
      let groups = try await stack.invites.with(stack.with(key: "groups")).send(
        .POST, "/internal/invites/lists", body: try JSON.encodeExact(ask(0)))
      #expect(groups.status == 403 && groups.string("code") == "wrong_service_key")
      // Text that is not an address could be another kind of identifier.
      let addressless = InviteToList(
        list: list, role: "viewer", invitedBy: alice.id, invitee: .email("\(alice.id)"))
      for (wrong, field) in [(ask(0, role: "owner"), "role"), (addressless, "invitee.email")] {
        await #expect {
          _ = try await client(stack).invite(wrong)
        } throws: { error in
          let failure = error as? Failure
          return failure?.code == "validation_error" && failure?.fields.map(\.field) == [field]
        }
      }
      for index in 0..<50 { _ = try await client(stack).invite(ask(index)) }
      await #expect { _ = try await client(stack).invite(ask(50)) } throws: { error in
        (error as? Failure)?.kind == .limited
      }
      #expect(try await stack.gateway.post("/internal/invites/lists").status == 404)
    }
  }

  /// Erasing the invitee's account also erases the invites to them.
  @Test(arguments: engines) func whoIsForgottenIsWaitedForNoMore(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await stack.list(of: alice)
      _ = try await client(stack).invite(.init(list: list, role: "viewer", invitedBy: alice.id, invitee: .user(bob.id)))
      let auth = stack.invites.with(stack.with(key: "auth"))
      #expect(try await auth.delete("/internal/users/\(bob.id)/data").status == 204)
      #expect(try await stack.count("invite where invitee_hash is not null or state = 'pending'", in: "invites") == 0)
    }
  }
}
