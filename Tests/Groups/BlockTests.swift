import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Blocks between users, and their effects on joining groups and seeing photos.
@Suite struct BlockTests {
  @Test(arguments: engines) func whoIsBlockedIsNotAddedNeitherWay(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      try await stack.addPhoneNumber("+4740000001", to: alice)
      try await stack.addPhoneNumber("+4740000002", to: bob)
      #expect(try await bob.browser.post("/users/user_\(alice.id)/block").bool("success") == true)
      for (adder, number, other) in [(alice, "+4740000002", bob), (bob, "+4740000001", alice)] {
        let made = try await adder.browser.post("/api/groups", ["name": "Ours", "member_phone_numbers": [number]])
        #expect(made.status == 200)
        #expect(try await adder.browser.get("/api/groups").list.first?["member_count"] as? Int == 1)
        let (groups, id) = (
          GroupsClient(in: stack.dependencies(of: "invites")), try #require(GroupID(made.string("id")))
        )
        let invite = JoinByInvite(inviteID: .new(at: Date()), invitedBy: adder.id)
        #expect(try await groups.join(id, other.id, by: invite).outcome == .blocked)
        #expect(
          try await groups.add(.init(users: [other.id], addedBy: adder.id), to: id, idempotencyKey: nil).added == [])
        // Once the block is gone, the same invite lets in.
        _ = try await bob.browser.delete("/api/users/\(alice.id)/block/")
        #expect(try await groups.join(id, other.id, by: invite).outcome == .joined)
        _ = try await bob.browser.post("/api/users/\(alice.id)/block/")
      }
    }
  }

  @Test(arguments: engines) func blockingIsForPeopleThatThereAre(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let blocked = try await atOnce(20) { _ in try await alice.browser.post("/users/\(bob.id)/block/").status }
      #expect(blocked.allSatisfy { $0 == 200 })
      #expect(try await alice.browser.post("/users/\(alice.id)/block").status == 400)
      #expect(try await alice.browser.post("/api/users/\(alice.id)/block").status == 422)
      #expect(try await alice.browser.post("/users/\(UUID())/block").status == 404)
      #expect(try await alice.browser.post("/users/nobody/block").status == 404)
      #expect(try await stack.gateway.post("/users/\(bob.id)/block").status == 401)
      for _ in 0..<2 { #expect(try await alice.browser.delete("/users/\(bob.id)/block").status == 200) }
    }
  }

  @Test(arguments: engines) func aPhotoCountsForItsDayAndIsHiddenFromWhoIsBlocked(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("Alice"), try await stack.signIn("Bob"))
      let id = try await alice.group("Ours")
      let groups = GroupsClient(in: stack.dependencies(of: "invites"))
      _ = try await groups.add(.init(users: [bob.id], addedBy: alice.id), to: id, idempotencyKey: nil)
      let unmarked = try await alice.browser.post("/api/groups/\(id)/mark-sent")
      #expect(unmarked.bool("success") == false && unmarked.string("code") == "no_photo_today")
      #expect(unmarked.string("message").contains("photo"))
      try await stack.insertPhoto(of: alice, in: id)
      #expect(try await alice.browser.get("/api/groups/\(id)/daily-status").bool("has_sent_today") == true)
      let marked = try await alice.browser.post("/api/groups/\(id)/mark-sent")
      #expect(marked.bool("success") == true && marked["code"] == nil)
      #expect(try await bob.browser.get("/api/groups/\(id)/daily-status").bool("has_sent_today") == false)
      let seen = try await bob.browser.get("/api/groups").list.first?["last_photo"] as? [String: Any]
      #expect(seen?["sender_id"] as? String == alice.id.description)
      #expect(seen?["sender_name"] as? String == "Alice")

      _ = try await alice.browser.post("/users/\(bob.id)/block")
      #expect(try await bob.browser.get("/api/groups").list.first?["last_photo"] is NSNull)
      #expect(try await alice.browser.get("/api/groups").list.first?["last_photo"] is [String: Any])

      stack.clock.advance(by: .seconds(48 * 3600))
      let later = try await stack.signIn("Alice")
      let group = try await later.browser.get("/api/groups/\(id)")
      #expect(group["last_photo"] is NSNull)
      #expect(group.bool("has_sent_today") == false)
    }
  }
}
