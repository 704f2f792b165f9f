import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Creating, listing, and leaving groups.
@Suite struct GroupTests {
  @Test(arguments: engines) func whoMakesAGroupOwnsItAndSeesIt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("Alice")
      let made = try await alice.browser.post(
        "/api/groups/", ["name": "  The Cabin ", "member_phone_numbers": [String]()])
      #expect(made.status == 200)
      #expect(made.string("name") == "The Cabin")
      let list = try await alice.browser.get("/api/groups")
      let group = try #require(list.list.first)
      #expect(list.list.count == 1)
      #expect(group["id"] as? String == made.string("id"))
      #expect(group["member_count"] as? Int == 1)
      #expect(group["has_sent_today"] as? Bool == false)
      #expect(group["last_photo"] is NSNull)
      #expect(group["time_zone"] as? String == "UTC")
      let members = try #require(group["members"] as? [[String: Any]])
      #expect(members.map { $0["id"] as? String } == [alice.id.description])
      #expect(members.map { $0["first_name"] as? String } == ["Alice"])
      #expect((group["created_at"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
    }
  }

  @Test(arguments: engines) func aGroupIsOnlyThereForItsMembers(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let id = try await alice.group("Ours")
      #expect(try await alice.browser.get("/api/groups/\(id)").status == 200)
      #expect(try await bob.browser.get("/api/groups").list.isEmpty)
      #expect(try await bob.browser.get("/api/groups/\(id)").status == 404)
      #expect(try await bob.browser.send(.PUT, "/api/groups/\(id)?name=Mine").status == 404)
      #expect(try await bob.browser.delete("/api/groups/\(id)/").status == 404)
      for path in ["daily-status", "daily-status/"] {
        let refusal = try await bob.browser.get("/api/groups/\(id)/\(path)")
        #expect(refusal.status == 403)
        #expect(refusal.string("detail") == "Not a member of this group")
      }
      #expect(try await bob.browser.post("/api/groups/\(id)/mark-sent").status == 403)
      #expect(try await bob.browser.post("/api/groups/not-an-id/mark-sent").status == 403)
      #expect(try await stack.gateway.get("/api/groups").status == 401)
    }
  }

  @Test(arguments: engines) func whileNobodyKnowsNamesGroupsAreMadeAndShownWithout(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      #expect(try await alice.browser.get("/api/groups").list.isEmpty)
      #expect(try await alice.browser.post("/api/groups", ["name": "Ours"]).status == 200)
      let numbers = ["name": "Theirs", "member_phone_numbers": ["+4740000001"]] as [String: any Sendable]
      // Phone numbers cannot be looked up without auth.
      let refused = try await alice.browser.post("/api/groups", numbers)
      #expect(refused.status == 503 && refused.headers.first(name: "retry-after") != nil)
      func names() async throws -> [String?] {
        let groups = try await alice.browser.get("/api/groups").list
        #expect(groups.map { $0["name"] as? String } == ["Ours"])
        return groups.flatMap { $0["members"] as? [[String: Any]] ?? [] }.map { $0["first_name"] as? String }
      }
      #expect(try await names() == [""])
      stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
      try await eventually("alice's name") { try await names() == ["alice"] }
    }
  }

  @Test(arguments: engines) func leavingPassesTheGroupOnAndTheLastOneOutClosesIt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let (id, groups) = (try await alice.group("Ours"), GroupsClient(in: stack.dependencies(of: "invites")))
      for user in [bob, carol] {
        let joined = try await groups.join(id, user.id, by: .init(inviteID: .new(at: Date()), invitedBy: alice.id))
        #expect(joined == JoinedGroup(outcome: .joined, groupID: id, groupName: "Ours"))
      }
      #expect(try await alice.browser.delete("/api/groups/\(id)/").bool("success") == true)
      #expect(try await alice.browser.delete("/api/groups/\(id)/").status == 404)
      #expect(try await groups.membership(of: bob.id, in: id)?.role == .owner)
      let gone = GroupMembership(groupID: id, groupName: "Ours", role: .member, isActive: false, seatsLeft: 10)
      #expect(try await groups.membership(of: alice.id, in: id) == gone)
      for user in [bob, carol] {
        #expect(try await user.browser.delete("/api/groups/\(id)").bool("success") == true)
      }
      #expect(try await groups.membership(of: carol.id, in: id) == nil)
      await #expect(throws: Failure.self) {
        _ = try await groups.join(id, bob.id, by: .init(inviteID: .new(at: Date()), invitedBy: nil))
      }
    }
  }
}
