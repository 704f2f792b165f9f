import Clients
import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Lists

/// Which users can be found by an identifier.
@Suite struct ContactVisibilityTests {
  @Test(arguments: engines) func strangersAreNotFoundByCounting(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.makeList()
      let his = try await bob.browser.makeList()
      let number = try await number(of: bob)
      let nobody = try await add(999_999, to: list, by: alice)
      #expect(nobody.status == 404 && nobody.string("code") == "user_not_found")
      let names: [any Sendable] = [
        number, String(number), bob.id.description, UserID.new(at: Date()).description, "+4790000001", "-1", "bob",
      ]
      for name in names {
        let reply = try await add(name, to: list, by: alice)
        #expect(reply.status == 404 && reply.string("code") == "user_not_found", "\(name)")
        #expect(reply.string("detail") == nobody.string("detail"), "\(name)")
      }
      // Users who share a list with her can be found, also by number.
      try await bob.browser.share(his, with: "alice", as: "viewer")
      let added = try await add(number, to: list, by: alice)
      #expect(added.status == 201 && added.object("membership").object("user").int("id") == number)
      let second = try await alice.browser.makeList("Second")
      #expect(try await add(bob.id.description, to: second, by: alice).status == 201)
    }
  }

  @Test(arguments: engines) func whoSharesACollectionCanBeNamed(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.makeList()
      #expect(try await add(bob.id.description, to: list, by: alice).status == 404)
      try await shareCollection(alice, with: bob, on: stack)
      #expect(try await add(bob.id.description, to: list, by: alice).status == 201)
    }
  }

  @Test(arguments: engines) func whileGroupsIsDownOnlyUsersOfSharedListsAreFound(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let (first, second) = (try await alice.browser.makeList(), try await alice.browser.makeList("Second"))
      try await alice.browser.share(first, with: "bob")
      let groups = stack.dependencies.serviceAddresses.urls(of: .groups)
      stack.dependencies.serviceAddresses.set(.groups, to: "http://127.0.0.1:1")
      #expect(try await add(bob.id.description, to: second, by: alice).status == 201)
      for name in [carol.id.description, UserID.new(at: Date()).description, "carol@example.com"] {
        #expect(try await add(name, to: second, by: alice).status == 503, "\(name)")
      }
      let task = try await alice.browser.makeTask(first)
      let given = try await alice.browser.post("/api/v1/tasks/\(task)/assign", ["assigned_to": bob.id.description])
      #expect(given.status == 200)
      stack.dependencies.serviceAddresses.set(.groups, to: groups)
    }
  }

  @Test(arguments: engines) func anAddressThatNobodyHasProvenGetsAnInvite(engine: Engine) async throws {
    try await withInvites(engine) { stack, invites in
      let alice = try await stack.signIn("alice")
      let list = try await alice.browser.makeList()
      let keyed = alice.browser.with(["Idempotency-Key": "dora"])
      let body: [String: any Sendable] = [
        "membership": ["user_identifier": "Dora@example.com", "role": "editor"]
      ]
      let reply = try await keyed.post("/api/v1/lists/\(list)/memberships", body)
      #expect(reply.status == 202 && !reply.string("message").isEmpty)
      // The app decodes a placeholder membership.
      let membership = try reply.read(ListsApp.OneMembership.self, 202).membership
      #expect(membership.id == 0 && membership.user.id == 0)
      let invite = reply.object("invite")
      #expect(invite.int("id") == 1 && invite.string("code") == "CODE0001" && invite.string("role") == "editor")
      #expect(invite.int("uses_count") == 0 && invite.int("max_uses") == 1 && invite.bool("usable") == true)
      for name in ["invite_url", "expires_at", "created_at"] { #expect(!invite.string(name).isEmpty, "\(name)") }
      #expect(invites.invites.map(\.invitee) == [.email("Dora@example.com")])
      #expect(invites.invites.map(\.list) == [list] && invites.invites[0].invitedBy == alice.id)
      // No second invite is created with the same key.
      #expect(try await keyed.post("/api/v1/lists/\(list)/memberships", body).text == reply.text)
      #expect(invites.invites.count == 1)
      #expect(try await alice.browser.get("/api/v1/lists/\(list)").object("list").int("members_count") == 0)
      // A viewer cannot create one.
      let bob = try await stack.signIn("bob")
      try await alice.browser.share(list, with: "bob", as: "viewer")
      #expect(try await add("eve@example.com", to: list, by: bob).status == 403)
      #expect(invites.invites.count == 1)
    }
  }

  @Test(arguments: engines) func whoHasGoneIsNotPutBack(engine: Engine) async throws {
    try await withInvites(engine) { stack, invites in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let list = try await alice.browser.makeList()
      try await alice.browser.share(list, with: "carol")
      let path = "/api/v1/lists/\(list)/memberships"
      // He leaves; adding him again creates an invite.
      let first = try await alice.browser.share(list, with: "bob")
      #expect(try await bob.browser.delete("\(path)/\(first)").status == 204)
      for person in [alice, carol] {
        let reply = try await add("bob@example.com", to: list, by: person)
        #expect(reply.status == 202)
      }
      #expect(invites.invites.map(\.invitee) == [.user(bob.id), .user(bob.id)])
      #expect(try await bob.browser.get("/api/v1/lists/\(list)").status == 404)
      // Accepting it makes him a member again.
      let lists = ListsClient(in: stack.dependencies(of: "invites"))
      let joined = try await lists.join(
        list, bob.id, by: .init(inviteID: "i1", invitedBy: alice.id, madeAt: stack.clock.now, role: "viewer"))
      // An editor removes him, which the owner cannot undo.
      let member = try #require(joined.membershipID)
      #expect(try await carol.browser.delete("\(path)/\(member)").status == 204)
      #expect(try await add("bob@example.com", to: list, by: alice).status == 202)
      #expect(try await add("bob@example.com", to: list, by: carol).status == 202)
    }
  }

  @Test(arguments: engines) func theOwnerUndoesTheirOwnRemoval(engine: Engine) async throws {
    try await withInvites(engine) { stack, invites in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let list = try await alice.browser.makeList()
      try await alice.browser.share(list, with: "carol")
      let member = try await alice.browser.share(list, with: "bob")
      #expect(try await alice.browser.delete("/api/v1/lists/\(list)/memberships/\(member)").status == 204)
      // Another editor cannot: the address gets an invite, and the ID is not found.
      #expect(try await add("bob@example.com", to: list, by: carol).status == 202)
      #expect(try await add(bob.id.description, to: list, by: carol).status == 404)
      #expect(try await add(bob.id.description, to: list, by: alice).status == 201)
      #expect(try await bob.browser.get("/api/v1/lists/\(list)").status == 200)
      #expect(invites.invites.count == 1)
    }
  }

  @Test(arguments: engines) func aBlockKeepsPeopleFromNamingEachOther(engine: Engine) async throws {
    try await withInvites(engine) { stack, invites in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let shared = try await alice.browser.makeList()
      try await alice.browser.share(shared, with: "bob")
      let (hers, his) = (try await alice.browser.makeList("Hers"), try await bob.browser.makeList("His"))
      let task = try await alice.browser.makeTask(shared)
      let own = try await bob.browser.makeTask(shared)
      #expect(try await bob.browser.post("/users/\(alice.id)/block").status == 200)
      for (person, other, list) in [(alice, bob, hers), (bob, alice, his)] {
        #expect(try await add(other.id.description, to: list, by: person).status == 404)
        let name = other.id == bob.id ? "bob" : "alice"
        #expect(try await add("\(name)@example.com", to: list, by: person).status == 202)
        let refused = try await person.browser.post(
          "/api/v1/tasks/\(task)/assign", ["assigned_to": other.id.description])
        #expect(refused.faults == ["assigned_to"])
      }
      // The invite is for the address, as for one without an account.
      #expect(invites.invites.map(\.invitee) == [.email("bob@example.com"), .email("alice@example.com")])
      let lists = ListsClient(in: stack.dependencies(of: "invites"))
      for (inviter, invitee, list) in [(alice, bob, hers), (bob, alice, his)] {
        let join = JoinList(inviteID: "i\(list)", claimID: .new(at: Date()), invitedBy: inviter.id, role: "viewer")
        await #expect { try await lists.join(list, invitee.id, by: join) } throws: {
          ($0 as? Failure)?.code == "blocked"
        }
      }
      // Both stay members of the list that they share, and can assign tasks to themselves.
      #expect(try await bob.browser.get("/api/v1/lists/\(shared)").status == 200)
      let self_ = try await bob.browser.post("/api/v1/tasks/\(own)/assign", ["assigned_to": bob.id.description])
      #expect(self_.status == 200)
    }
  }

  @Test(arguments: engines) func whoHasProvenNothingNamesNobody(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let bob = try await stack.signIn("bob")
      let direct = stack.lists.bearing(bob.access)
      let auth = stack.dependencies.serviceAddresses.urls(of: .auth)
      let unproven = UnprovenUsersServer()
      try await running([unproven.server()]) {
        stack.dependencies.serviceAddresses.set(.auth, to: try await unproven.url)
        let list = try await direct.makeList()
        let task = try await direct.makeTask(list)
        for name in ["alice@example.com", "1", bob.id.description, UserID.new(at: Date()).description] {
          let reply = try await direct.post(
            "/api/v1/lists/\(list)/memberships", ["membership": ["user_identifier": name]])
          #expect(reply.status == 403 && reply.string("code") == "not_proven", "\(name)")
        }
        let refused = try await direct.post("/api/v1/tasks/\(task)/assign", ["assigned_to": "alice@example.com"])
        #expect(refused.status == 403 && refused.string("code") == "not_proven")
        // Their own lists and tasks work.
        let own = try await direct.post("/api/v1/tasks/\(task)/assign", ["assigned_to": bob.id.description])
        #expect(own.status == 200)
        #expect(try await direct.delete("/api/v1/lists/\(list)").status == 204)
        stack.dependencies.serviceAddresses.set(.auth, to: auth)
      }
    }
  }

  @Test(arguments: engines) func anAddressIsShownToWhoWroteIt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let list = try await alice.browser.makeList()
      try await alice.browser.share(list, with: "bob")
      try await bob.browser.share(list, with: "carol")
      let task = try await bob.browser.makeTask(list)
      func seen(by person: SignedInUser) async throws -> [String] {
        let path = "/api/v1/lists/\(list)"
        let index = try await person.browser.get("/api/v1/lists").objects("lists").first ?? [:]
        let one = try await person.browser.get(path).object("list")
        let members = try await person.browser.get("\(path)/memberships")
        let own = person.id == alice.id ? "alice@example.com" : ""
        #expect(members.object("owner").string("email") == own)
        for list in [index, one] { #expect(list.object("owner").string("email") == own) }
        let emails = members.objects("memberships").map { $0.object("user").string("email") }
        for list in [index, one] {
          #expect(list.objects("members").map { $0.object("user").string("email") } == emails)
        }
        let shown = try await person.browser.get("/api/v1/tasks/\(task)").object("task")
        let event = shown.objects("audit_trail").first ?? [:]
        #expect(event.object("user").string("email") == shown.object("creator").string("email"))
        return emails + [shown.object("creator").string("email")]
      }
      #expect(try await seen(by: alice) == ["bob@example.com", "", ""])
      #expect(try await seen(by: bob) == ["bob@example.com", "carol@example.com", "bob@example.com"])
      #expect(try await seen(by: carol) == ["", "carol@example.com", ""])
      // The address is deleted with the user who has entered it.
      let written = try await stack.lists.with(stack.with(key: "auth")).get("/internal/users/\(carol.id)/data")
      #expect(written.text.contains("carol@example.com"))
      #expect(
        try await stack.lists.with(stack.with(key: "auth")).delete("/internal/users/\(bob.id)/data").status == 204)
      let after = try await stack.lists.with(stack.with(key: "auth")).get("/internal/users/\(carol.id)/data")
      #expect(after.status == 200 && !after.text.contains("carol@example.com"))
    }
  }

  @Test(arguments: engines) func otherServicesAskWhoSharesAList(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, dave) = (try await stack.signIn("carol"), try await stack.signIn("dave"))
      let list = try await alice.browser.makeList()
      try await alice.browser.share(list, with: "bob")
      try await alice.browser.share(list, with: "carol", as: "viewer")
      let gone = try await alice.browser.makeList("Gone")
      try await alice.browser.share(gone, with: "dave")
      _ = try await alice.browser.delete("/api/v1/lists/\(gone)")
      for service in ["invites", "groups"] {
        let lists = ListsClient(in: stack.dependencies(of: service))
        let others = Set([alice.id, carol.id, dave.id])
        #expect(try await lists.relations(of: bob.id, to: others) == Relations(shared: [alice.id, carol.id]))
        #expect(try await lists.relations(of: dave.id, to: [alice.id, bob.id]) == Relations())
      }
      let path = "/internal/lists/relations"
      let inside = stack.lists.with(stack.with(key: "invites"))
      let ids = (0..<501).map { _ in UserID.new(at: Date()).description }
      #expect(try await inside.post(path, ["user": bob.id.description, "others": Array(ids.dropLast())]).status == 200)
      #expect(try await inside.post(path, ["user": bob.id.description, "others": [String]()]).status == 200)
      #expect(try await inside.post(path, ["user": bob.id.description, "others": ids]).status == 422)
      #expect(try await stack.lists.with(stack.with(key: "plain")).post(path).status == 403)
      #expect(try await stack.gateway.with(stack.with(key: "invites")).post(path).status == 404)
    }
  }

  @Test(arguments: [
    ("alice@example.com", PersonIdentifier.email("alice@example.com")), (" a@b ", .email("a@b")), ("12", .id("12")),
    ("01a1fd2c-bd4b-7c1e-8a42-5d3f0b9e6a17", .id("01a1fd2c-bd4b-7c1e-8a42-5d3f0b9e6a17")),
    ("+4790000001", .unsupported),
    ("-1", .unsupported), ("", .unsupported), ("alice", .unsupported), ("１２", .unsupported),
  ]) func aNameIsAnAddressOrAnID(text: String, name: PersonIdentifier) {
    #expect(PersonIdentifier(text) == name)
  }

  private func add(_ name: any Sendable, to list: Int, by person: SignedInUser) async throws -> Browser.Reply {
    try await person.browser.post("/api/v1/lists/\(list)/memberships", ["membership": ["user_identifier": name]])
  }

  /// The user's number, by which the lists app identifies them.
  private func number(of person: SignedInUser) async throws -> Int {
    let list = try await person.browser.makeList("Own")
    let shown = try await person.browser.get("/api/v1/lists/\(list)").object("list")
    return try #require(shown.object("owner").int("id"))
  }

  private func shareCollection(_ owner: SignedInUser, with other: SignedInUser, on stack: TestStack) async throws {
    let made = try await owner.browser.post("/collections", ["name": "Marbles"])
    let collection = try #require((made["data"] as? [String: Any])?["id"] as? String)
    let invited = try await owner.browser.post("/collections/\(collection)/invites", ["role": "VIEW_ONLY"])
    let invite = try #require((invited["data"] as? [String: Any])?["id"] as? String)
    #expect(try await other.browser.post("/invites/\(invite)/accept").status == 200)
  }
}
