import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Groups and collections, end to end: all services, real sockets, through the gateway.
@Suite struct GroupStoryTests {
  @Test(arguments: engines) func friendsShareAGroupUntilItsOwnerIsForgotten(engine: Engine) async throws {
    try await withStack(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack in
      let (alice, bob) = (try await stack.signIn("Alice"), try await stack.signIn("Bob"))
      let made = try await alice.browser.post(
        "/api/groups/", ["name": "The Cabin", "member_phone_numbers": [String]()])
      let id = try #require(GroupID(made.string("id")))
      // Bob has an invite; the invites service adds him.
      let groups = GroupsClient(in: stack.dependencies(of: "invites"))
      #expect(try await groups.membership(of: alice.id, in: id)?.isActive == true)
      let joined = try await groups.join(id, bob.id, by: .init(inviteID: .new(at: Date()), invitedBy: alice.id))
      #expect(joined.groupName == "The Cabin")
      let group = try #require(try await bob.browser.get("/api/groups").list.first)
      let members = group["members"] as? [[String: Any]]
      #expect(members?.map { $0["first_name"] as? String } == ["Alice", "Bob"])
      #expect(try await bob.browser.get("/api/groups/\(id)/daily-status/").bool("has_sent_today") == false)

      // Alice deletes her account: auth requests the erasure from every service, also from groups.
      #expect(try await alice.browser.delete("/api/v1/auth/account").status == 200)
      try await eventually("Bob's group") { try await bob.browser.get("/api/groups/\(id)").string("role") == "owner" }
      #expect(try await bob.browser.get("/api/groups/\(id)").int("member_count") == 1)
      #expect(try await alice.browser.get("/api/groups").status == 401)
      #expect(try await bob.browser.delete("/api/groups/\(id)").bool("success") == true)
      #expect(try await groups.membership(of: bob.id, in: id) == nil)
    }
  }

  @Test(arguments: engines) func whatIsKnownOfAPersonIsInTheirExport(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let made = try await alice.browser.post("/collections", ["name": "Marbles"])
      #expect(made.status == 201)
      let export = try await alice.browser.get("/api/v1/users/me/export")
      let groups = (export["data"] as? [String: Any])?["groups"] as? [String: Any]
      let collections = groups?["collections"] as? [[String: Any]]
      #expect(collections?.map { $0["name"] as? String } == ["Marbles"])
    }
  }
}
