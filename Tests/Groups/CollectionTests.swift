import Clients
import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// Collections: names, members, and permissions.
@Suite struct CollectionTests {
  private func join(_ role: CollectionRole, by inviter: UserID? = nil) -> JoinByInvite {
    JoinByInvite(inviteID: .new(at: Date()), invitedBy: inviter, role: role)
  }

  @Test(arguments: engines) func aCollectionIsMadeRenamedAndDeletedByItsOwner(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let made = try await alice.browser.post("/collections", ["name": " Marbles ", "userId": "user_\(alice.id)"])
      #expect(made.status == 201)
      let data = try #require(made["data"] as? [String: Any])
      let id = try #require(data["id"] as? String)
      #expect(id.hasPrefix("col_"))
      #expect(data["name"] as? String == "Marbles")
      #expect(data["userId"] as? String == "user_\(alice.id)")
      let time = try #require(data["createdAt"] as? String)
      #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)

      #expect(try await alice.browser.get("/collections/\(id)/").status == 200)
      #expect(try await alice.browser.get("/collections/\(id.dropFirst(4))").status == 200)
      let renamed = try await alice.browser.patch("/collections/\(id)", ["name": "Older Marbles"])
      #expect((renamed["data"] as? [String: Any])?["name"] as? String == "Older Marbles")
      #expect(try await alice.browser.delete("/collections/\(id)").status == 204)
      #expect(try await alice.browser.get("/collections/\(id)").status == 404)
    }
  }

  @Test(arguments: engines) func whatIsWrongWithABodyIsTold(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      for name in ["", "  ", String(repeating: "x", count: 121)] {
        let refused = try await alice.browser.post("/collections", ["name": name])
        #expect(refused.status == 400)
        #expect(refused.string("code") == "validation_error")
      }
      #expect(try await alice.browser.post("/collections").status == 400)
      #expect(try await alice.browser.get("/collections?take=101").status == 400)
      #expect(try await alice.browser.get("/collections?skip=-1").status == 400)
      let forBob = try await alice.browser.post("/collections", ["name": "x", "userId": "user_\(bob.id)"])
      #expect(forBob.status == 403)
      #expect(try await alice.browser.get("/collections").int("count") == 0)
      #expect(try await stack.gateway.post("/collections", ["name": "x"]).status == 401)
    }
  }

  @Test(arguments: engines) func anOwnersNamesAreUniqueHoweverManyComeAtOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let made = try await atOnce(20) { _ in try await alice.browser.post("/collections", ["name": "Marbles"]).status }
      #expect(made.count { $0 == 201 } == 1)
      #expect(made.count { $0 == 409 } == 19)
      #expect(try await bob.collection("Marbles") != alice.collection("Other"))
      let other = try await alice.collection("Third")
      let taken = try await alice.browser.patch("/collections/\(other)", ["name": "Marbles"])
      #expect(taken.status == 409)
      #expect(taken.string("code") == "collection_name_taken")
    }
  }

  @Test(arguments: engines) func aKeyMakesOneCollection(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let browser = alice.browser.with(["Idempotency-Key": "one"])
      let first = try await browser.post("/collections", ["name": "Marbles"])
      let again = try await browser.post("/collections", ["name": "Marbles"])
      #expect(again.status == 201)
      #expect(again.body == first.body)
      #expect(again.headers.first(name: "idempotency-hit") == "true")
      #expect(try await browser.post("/collections", ["name": "Pebbles"]).status == 422)
    }
  }

  @Test(arguments: engines) func collectionsComeInPagesTheLastChangedFirst(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      var ids: [String] = []
      for index in 0..<5 { ids.append(try await alice.collection("Collection \(index)")) }
      _ = try await alice.browser.patch("/collections/\(ids[0])", ["name": "Changed"])
      let list = try await alice.browser.get("/collections/")
      #expect(list.data.map { $0["id"] as? String } == [ids[0], ids[4], ids[3], ids[2], ids[1]])
      let page = try await alice.browser.get("/collections?skip=1&take=2")
      #expect(page.data.map { $0["id"] as? String } == [ids[4], ids[3]])
      #expect(page.int("count") == 5)
    }
  }

  @Test(arguments: engines) func strangersFindNothingAndMembersMayNotRule(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("Alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let (id, groups) = (try await alice.collection("Marbles"), GroupsClient(in: stack.dependencies(of: "invites")))
      let collection = try #require(CollectionID(id, prefix: .collection))
      #expect(try await groups.join(collection, bob.id, by: join(.viewOnly, by: alice.id)).outcome == .joined)
      for (person, status) in [(bob, 403), (carol, 404)] {
        #expect(try await person.browser.patch("/collections/\(id)", ["name": "Mine"]).status == status)
        #expect(try await person.browser.delete("/collections/\(id)").status == status)
        #expect(
          try await person.browser.patch("/collections/\(id)/members/user_\(alice.id)", ["role": "EDITOR"]).status
            == status)
        #expect(try await person.browser.delete("/collections/\(id)/members/user_\(alice.id)").status == status)
        #expect(try await person.browser.get("/collections/\(id)/members").status == (status == 403 ? 200 : 404))
      }
      #expect(try await bob.browser.get("/collections").int("count") == 1)
      let members = try await bob.browser.get("/collections/\(id)/members/")
      #expect(members.int("count") == 2)
      #expect(members.data.map { $0["role"] as? String } == ["OWNER", "VIEW_ONLY"])
      let user = try #require(members.data.first?["user"] as? [String: Any])
      #expect(user["name"] as? String == "Alice")
      #expect(user["email"] as? String == "Alice@example.com")
      #expect(user["id"] as? String == "user_\(alice.id)")
    }
  }

  @Test(arguments: engines) func theOwnerPromotesAndDemotesButIsFixedThemselves(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (id, groups) = (try await alice.collection("Marbles"), GroupsClient(in: stack.dependencies(of: "invites")))
      let collection = try #require(CollectionID(id, prefix: .collection))
      _ = try await groups.join(collection, bob.id, by: join(.viewOnly))
      let members = try await alice.browser.get("/collections/\(id)/members").data
      let (owner, member) = (members[0]["id"] as? String ?? "", members[1]["id"] as? String ?? "")
      let promoted = try await alice.browser.patch("/collections/\(id)/members/\(member)", ["role": "EDITOR"])
      #expect((promoted["data"] as? [String: Any])?["role"] as? String == "EDITOR")
      for (name, role) in [(owner, "EDITOR"), (member, "OWNER"), (member, "KING")] {
        #expect(try await alice.browser.patch("/collections/\(id)/members/\(name)", ["role": role]).status == 400)
      }
      #expect(try await alice.browser.delete("/collections/\(id)/members/\(owner)").status == 400)
      #expect(try await alice.browser.delete("/collections/\(id)/members/\(UUID())").status == 404)
      #expect(try await alice.browser.delete("/collections/\(id)/members/\(member)").status == 204)
      #expect(try await groups.membership(of: bob.id, in: collection)?.role == nil)
    }
  }

  @Test(arguments: engines) func joiningNeverLowersARoleAndWorksOnceForEachInvite(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let groups = GroupsClient(in: stack.dependencies(of: "invites"))
      let collection = try #require(CollectionID(try await alice.collection("Marbles"), prefix: .collection))
      let invite = join(.editor, by: alice.id)
      let joined = try await atOnce(50) { _ in try await groups.join(collection, bob.id, by: invite) }
      #expect(Set(joined) == [JoinedCollection(outcome: .joined, collectionID: collection, role: .editor)])
      let lower = try await groups.join(collection, bob.id, by: join(.viewOnly))
      #expect(lower == JoinedCollection(outcome: .alreadyMember, collectionID: collection, role: .editor))
      let owner = try await groups.join(collection, alice.id, by: join(.editor))
      #expect(owner == JoinedCollection(outcome: .alreadyMember, collectionID: collection, role: .owner))

      #expect(try await bob.browser.delete("/collections/\(collection)/members/user_\(bob.id)").status == 204)
      #expect(try await groups.join(collection, bob.id, by: invite).role == nil)
      #expect(try await groups.join(collection, bob.id, by: join(.viewOnly)).role == .viewOnly)
      #expect(try await groups.join(collection, bob.id, by: join(.editor)).role == .editor)
      await #expect(throws: Failure.self) { _ = try await groups.join(collection, bob.id, by: join(.owner)) }
      await #expect(throws: Failure.collectionGone) {
        _ = try await groups.join(CollectionID.new(at: Date()), bob.id, by: join(.editor))
      }
    }
  }
}

extension Failure {
  fileprivate static let collectionGone = Failure(
    .notFound, "collection_not_found", "There is no such collection.")
}
