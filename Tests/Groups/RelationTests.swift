import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// The relations between users that other services query.
@Suite struct RelationTests {
  @Test(arguments: engines) func whoSharesAGroupOrACollectionIsKnownAndWhoIsBlockedIsApart(engine: Engine) async throws
  {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let (dora, emil) = (try await stack.signIn("dora"), try await stack.signIn("emil"))
      let groups = GroupsClient(in: stack.dependencies(of: "invites"))
      let group = try await alice.group("Ours")
      _ = try await groups.add(.init(users: [bob.id], addedBy: alice.id), to: group, idempotencyKey: nil)
      let made = try await alice.browser.post("/collections", ["name": "Marbles"])
      let name = (made["data"] as? [String: Any])?["id"] as? String ?? ""
      let collection = try #require(CollectionID(name, prefix: .collection))
      let invite = JoinByInvite(inviteID: .new(at: stack.clock.now), invitedBy: alice.id, role: .viewOnly)
      #expect(try await groups.join(collection, carol.id, by: invite).outcome == .joined)
      #expect(try await alice.browser.post("/users/\(dora.id)/block").status == 200)
      #expect(try await bob.browser.post("/users/\(alice.id)/block").status == 200)

      let all: Set = [alice.id, bob.id, carol.id, dora.id, emil.id, UserID.new(at: stack.clock.now)]
      func relations(of user: SignedInUser) async throws -> Relations {
        try await GroupsClient(in: stack.dependencies(of: "lists")).relations(of: user.id, to: all)
      }
      #expect(
        try await relations(of: alice)
          == Relations(shared: [alice.id, bob.id, carol.id], blocked: [bob.id, dora.id]))
      #expect(try await relations(of: bob) == Relations(shared: [bob.id, alice.id], blocked: [alice.id]))
      #expect(try await relations(of: dora) == Relations(blocked: [alice.id]))
      #expect(try await relations(of: emil) == Relations())
      // A user who has left no longer shares the group.
      #expect(try await bob.browser.delete("/api/groups/\(group)").status == 200)
      #expect(try await relations(of: bob).shared.isEmpty)
      #expect(try await relations(of: alice).shared == [alice.id, carol.id])
    }
  }

  @Test(arguments: engines) func onlyInvitesAndListsMayAskAndNotWithoutEnd(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let path = "/internal/groups/relations"
      func query(_ key: String, _ count: Int) async throws -> Browser.Reply {
        let ids = (0..<count).map { _ in UUID().uuidString }
        return try await stack.groups.with(stack.with(key: key)).post(path, ["user": UUID().uuidString, "others": ids])
      }
      let most = try await query("lists", 500)
      #expect(most.status == 200)
      #expect(try await query("invites", 0).status == 200)
      #expect(try await query("invites", 501).string("code") == "validation_error")
      #expect(try await query("credits", 1).status == 403)
      #expect(try await stack.gateway.with(stack.with(key: "lists")).post(path).status == 404)
    }
  }

  /// A 404 from an older process without the endpoint is an error, not an empty result.
  @Test(arguments: engines) func anOlderProcessIsNoAnswer(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group("Ours")
      let dependencies = stack.dependencies(of: "invites")
      let (groups, lists) = (GroupsClient(in: dependencies), ListsClient(in: dependencies))
      stack.dependencies.serviceAddresses.set(.groups, to: stack.credits.base)
      stack.dependencies.serviceAddresses.set(.lists, to: stack.credits.base)
      await #expect(throws: Failure.unavailable) { _ = try await groups.relations(of: alice.id, to: [bob.id]) }
      await #expect(throws: Failure.unavailable) { _ = try await lists.relations(of: alice.id, to: [bob.id]) }
      await #expect(throws: Failure.unavailable) {
        _ = try await groups.departed(among: AddToGroup(users: [bob.id], addedBy: alice.id), from: group)
      }
    }
  }
}
