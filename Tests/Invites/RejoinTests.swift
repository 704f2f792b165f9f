import Clients
import Database
import Foundation
import Support
import Testing
import Wire

@testable import Invites

/// Users who have left or were removed, and who join again by an invite.
@Suite struct RejoinTests {
  private func groupLink(_ user: SignedInUser, _ group: String) async throws -> String {
    let made = try await user.browser.post("/api/groups/\(group)/invites")
    guard made.status == 201 else { throw Unexpected(reply: made.text) }
    return made.string("code")
  }

  private func redeem(_ code: String, _ user: SignedInUser) async throws -> Browser.Reply {
    try await user.browser.post("/api/invites/redeem/\(code)")
  }

  @Test(arguments: engines) func whoHasLeftAGroupComesBackByTheSameLink(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group()
      let code = try await groupLink(alice, group)
      #expect(try await redeem(code, bob).status == 200)
      for _ in 0..<2 {
        let twice = try await redeem(code, bob)
        #expect(twice.status == 400 && twice.string("code") == "already_a_member")
      }
      #expect(try await bob.browser.delete("/api/groups/\(group)").status == 200)
      let statuses = try await atOnce(10) { _ in try await redeem(code, bob).status }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(statuses.count { $0 == 400 } == 9)
      #expect(try await bob.browser.get("/api/groups").list.count == 1)
      let listed = try await alice.browser.get("/api/groups/\(group)/invites")["invites"] as? [[String: Any]]
      #expect(listed?.first?["uses_count"] as? Int == 2)
    }
  }

  @Test(arguments: engines) func noLinkUndoesARemovalFromAGroup(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let group = try await alice.group()
      let old = try await groupLink(alice, group)
      #expect(try await redeem(old, bob).status == 200)
      let own = try await groupLink(bob, group)
      let text = try await texting.invite([number(5)], to: group, by: bob)[0]
      #expect(try await alice.browser.delete("/api/groups/\(group)/members/\(bob.id)").status == 200)
      for code in [own, old, text] {
        let refused = try await redeem(code, bob)
        #expect(refused.status == 404 && refused.string("detail") == "Invalid or expired invite code")
      }
      // Bob's invites are valid for nobody any more; alice's are, except for bob.
      for code in [own, text] { #expect(try await redeem(code, carol).status == 404) }
      #expect(try await redeem(old, carol).status == 200)
      #expect(try await bob.browser.get("/api/groups").list.isEmpty)
      #expect(try await redeem(try await groupLink(alice, group), bob).status == 200)
    }
  }

  @Test(arguments: engines) func aLinkEndsWhenItsMakerLeavesAndATextDoesNot(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let group = try await alice.group()
      #expect(try await redeem(try await groupLink(alice, group), bob).status == 200)
      let link = try await groupLink(bob, group)
      let text = try await texting.invite([number(5)], to: group, by: bob)[0]
      #expect(try await bob.browser.delete("/api/groups/\(group)").status == 200)
      #expect(try await redeem(link, carol).status == 404)
      #expect(try await redeem(text, carol).status == 200)
    }
  }

  private func list(_ user: SignedInUser) async throws -> Int {
    let made = try await user.browser.post("/api/v1/lists", ["list": ["name": "Groceries"]])
    guard let id = (made["list"] as? [String: Any])?["id"] as? Int else { throw Unexpected(reply: made.text) }
    return id
  }

  private func listLink(_ user: SignedInUser, _ list: Int) async throws -> (code: String, id: Int) {
    let made = try await user.browser.post("/api/v1/lists/\(list)/invites", ["invite": ["role": "viewer"]])
    let link = made["invite"] as? [String: Any]
    guard let code = link?["code"] as? String, let id = link?["id"] as? Int else {
      throw Unexpected(reply: made.text)
    }
    return (code, id)
  }

  private func accept(_ code: String, _ user: SignedInUser) async throws -> Browser.Reply {
    try await user.browser.post("/api/v1/invites/\(code)/accept")
  }

  private func membership(in reply: Browser.Reply) -> Int {
    (reply["membership"] as? [String: Any])?["id"] as? Int ?? -1
  }

  @Test(arguments: engines) func whoHasLeftAListComesBackAndWhoWasRemovedDoesNot(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let id = try await list(alice)
      let (path, link) = ("/api/v1/lists/\(id)/memberships", try await listLink(alice, id).code)
      let first = try await accept(link, bob)
      #expect(first.status == 200)
      #expect(try await accept(link, bob).string("code") == "already_member")
      #expect(try await bob.browser.delete("\(path)/\(membership(in: first))").status == 204)
      let second = try await accept(link, bob)
      #expect(second.status == 200)
      #expect(try await bob.browser.get("/api/v1/lists/\(id)").status == 200)
      #expect(try await alice.browser.delete("\(path)/\(membership(in: second))").status == 204)
      for _ in 0..<2 { #expect(try await accept(link, bob).status == 403) }
      #expect(try await bob.browser.get("/api/v1/lists/\(id)").status == 404)
      #expect(try await accept(link, carol).status == 200)
      // A newer link overrides the removal.
      let third = try await accept(try await listLink(alice, id).code, bob)
      #expect(third.status == 200)
      #expect(try await bob.browser.delete("\(path)/\(membership(in: third))").status == 204)
      #expect(try await accept(link, bob).status == 200)
    }
  }

  /// A worker has completed the join, and the user never got a response: the later response does not add them again.
  @Test(arguments: engines, [true, false])
  func whoHasGoneDoesNotComeBackByAClaimOfBefore(engine: Engine, isRemoved: Bool) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let id = try await list(alice)
      let link = try await listLink(alice, id)
      _ = try await stack.claim(try await stack.invite(numbered: link.id), bob.id)
      stack.clock.advance(by: .seconds(30))
      try await eventually("the end of it") {
        try await stack.count("invite_use where due_at is not null", in: "invites") == 0
      }
      #expect(try await bob.browser.get("/api/v1/lists/\(id)").status == 200)
      let path = "/api/v1/lists/\(id)/memberships"
      let members = try await alice.browser.get(path)["memberships"] as? [[String: Any]]
      let member = try #require(members?.first?["id"] as? Int)
      #expect(try await (isRemoved ? alice : bob).browser.delete("\(path)/\(member)").status == 204)
      #expect(try await alice.browser.delete("/api/v1/lists/\(id)/invites/\(link.id)").status == 204)
      for _ in 0..<3 { _ = try await accept(link.code, bob) }
      #expect(try await bob.browser.get("/api/v1/lists/\(id)").status == 404)
      #expect(try await accept(link.code, bob).status == 410)
    }
  }

  @Test(arguments: engines) func noLinkUndoesARemovalFromACollection(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let collection = try await alice.collection()
      let path = "/collections/\(collection)/members/user_\(bob.id)"
      let links = [try await alice.link(to: collection), try await alice.link(to: collection)]
      #expect(try await bob.accept(links[0]).status == 200)
      #expect(try await alice.browser.delete(path).status == 204)
      #expect(try await bob.accept(links[1]).status == 403)
      #expect(try await bob.role(in: collection) == nil)
      #expect(try await carol.accept(links[1]).status == 200)
      let later = [try await alice.link(to: collection), try await alice.link(to: collection)]
      #expect(try await bob.accept(later[0]).status == 200)
      // A user who left can join again.
      #expect(try await bob.browser.delete(path).status == 204)
      #expect(try await bob.accept(later[1]).status == 200)
    }
  }

  /// An inviter who may not invite any more, as after an erasure that has reached only one of the services.
  @Test(arguments: engines) func nobodyComesInByTheWordOfWhoMayNotInvite(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let groups = GroupsClient(in: stack.dependencies(of: "invites"))
      let lists = ListsClient(in: stack.dependencies(of: "invites"))
      let collection = try #require(CollectionID(try await alice.collection(), prefix: .collection))
      let (id, now) = (try await list(alice), stack.clock.now)
      func join(by inviter: SignedInUser) async throws -> JoinOutcome {
        let join = JoinByInvite(
          inviteID: .new(at: now), claimID: .new(at: now), invitedBy: inviter.id, madeAt: now, isLink: true,
          role: .viewOnly)
        return try await groups.join(collection, carol.id, by: join).outcome
      }
      func joinList(by inviter: SignedInUser) -> JoinList {
        JoinList(inviteID: "one", claimID: .new(at: now), invitedBy: inviter.id, madeAt: now, role: "viewer")
      }
      #expect(try await join(by: bob) == .lapsed)
      #expect(try await join(by: alice) == .joined)
      let refusal = await #expect(throws: Failure.self) {
        _ = try await lists.join(id, carol.id, by: joinList(by: bob))
      }
      #expect(refusal?.code == "invite_lapsed")
      #expect(try await lists.join(id, carol.id, by: joinList(by: alice)).outcome == .joined)
    }
  }
}
