import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// Hunts of a group: its members see them, and take part as long as they are members.
@Suite struct GroupHuntTests {
  @Test(arguments: engines) func membersTakePartUntilTheyAreRemoved(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let mallory = try await stack.signIn("mallory")
      let group = try await makeGroup(alice, with: bob, stack)
      let refused = try await mallory.rest(.POST, "scavenger_hunts", #"{"title": "x", "group_id": "\#(group)"}"#)
      #expect(refused.status == 403, "\(refused.text)")
      let hunt = try await alice.makeHunt(points: [5, 7], group: group)
      let path = "scavenger_hunts?id=eq.\(hunt.id)"
      try await eventually("bob's group") { try await bob.rows(path).count == 1 }
      #expect(try await mallory.rows(path).isEmpty)
      // Who sees the hunt, and does not take part, sees nobody's submissions.
      #expect(try await alice.join(hunt).status == 200)
      #expect(try await alice.submit(hunt.checkpoints[0]).status == 201)
      #expect(try await bob.rows("checkpoint_submissions").isEmpty)
      let embedded = try await bob.rows("hunt_checkpoints?hunt_id=eq.\(hunt.id)&select=checkpoint_submissions(id)")
      #expect(embedded.count == 2 && embedded.allSatisfy { ($0["checkpoint_submissions"] as? [Any])?.isEmpty == true })
      #expect(try await bob.rest(.POST, "scavenger_hunts/\(hunt.id)/join").status == 200)
      #expect(try await bob.rows("checkpoint_submissions").count == 1)
      #expect(try await mallory.rest(.POST, "scavenger_hunts/\(hunt.id)/join").status == 404)
      #expect(try await bob.submit(hunt.checkpoints[0]).status == 201)

      let removed = try await alice.browser.delete("/api/groups/\(group)/members/\(bob.id)")
      #expect(removed.status < 300, "\(removed.text)")
      try await eventually("the end of bob's right") { try await bob.rows(path).isEmpty }
      #expect(try await bob.submit(hunt.checkpoints[1]).status == 403)
      #expect(try await alice.count("hunt_participants?hunt_id=eq.\(hunt.id)") == 1)
      let scores = try await alice.rows("hunt_leaderboard?hunt_id=eq.\(hunt.id)").map { $0.int("score") }
      #expect(scores == [5, 5])
    }
  }

  /// Adventures remembers for a moment which groups somebody is in.
  @Test(arguments: engines) func aGroupOfAMomentAgoHasHunts(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      for _ in 1...5 {
        for user in [alice, bob] { _ = try await user.rows("scavenger_hunts") }
        let group = try await stack.makeGroup(alice)
        let hunt = try await alice.makeHunt(group: group.id)
        let joined = try await bob.rest(.POST, "social_groups/join", #"{"invite_code": "\#(group.code)"}"#)
        #expect(joined.status == 200, "\(joined.text)")
        #expect(try await bob.rest(.POST, "scavenger_hunts/\(hunt.id)/join").status == 200)
      }
    }
  }

  @Test(arguments: engines) func whoHasTheCodeStaysWithoutTheGroup(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, carol) = (try await stack.signIn("alice"), try await stack.signIn("carol"))
      let group = try await makeGroup(alice, with: nil, stack)
      let hunt = try await alice.makeHunt(group: group)
      #expect(try await carol.join(hunt).status == 200)
      #expect(try await carol.submit(hunt.checkpoints[0]).status == 201)
    }
  }

  @Test(arguments: engines) func aBlockKeepsACodeFromOpening(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, mallory) = (try await stack.signIn("alice"), try await stack.signIn("mallory"))
      let hunt = try await alice.makeHunt()
      #expect(try await alice.browser.post("/users/\(mallory.id)/block").status < 300)
      #expect(try await mallory.join(hunt).status == 404)
    }
  }

  private func makeGroup(_ owner: SignedInUser, with member: SignedInUser?, _ stack: TestStack) async throws -> String {
    let made = try await owner.browser.post("/api/groups", ["name": "Ours"])
    let group = (made["group"] as? [String: Any])?.text("id") ?? made.string("id")
    guard !group.isEmpty else { throw Unexpected(reply: made.text) }
    guard let member else { return group }
    let added = try await stack.groups.with(stack.with(key: "invites")).send(
      .POST, "/internal/groups/\(group)/members",
      json: ["users": ["\(member.id)"], "added_by": "\(owner.id)"])
    guard added.status == 200 else { throw Unexpected(reply: added.text) }
    return group
  }
}
