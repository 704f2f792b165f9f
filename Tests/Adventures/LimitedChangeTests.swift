import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// Changes with an order and a limit, by people who see more rows than they may change: the rules of a table apply to
/// the rows that are changed, not to those that are seen first.
@Suite struct LimitedChangeTests {
  @Test(arguments: engines) func aHuntThatIsOverStaysSo(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let seenFirst = try await bob.makeHunt()
      #expect(try await alice.join(seenFirst).status == 200)
      let hunt = try await alice.makeHunt()
      let path = "scavenger_hunts?title=eq.City&order=id&limit=1"
      #expect(try await alice.rows(path).map { $0.text("id") } == [seenFirst.id])
      let ended = try await alice.rest(.PATCH, path, #"{"status": "completed"}"#)
      #expect(ended.status == 200 && ended.list.map { $0.text("id") } == [hunt.id], "\(ended.text)")
      for status in ["draft", "active"] {
        #expect(try await alice.rest(.PATCH, path, #"{"status": "\#(status)"}"#).status == 400, "\(status)")
        #expect(try await alice.rest(.PATCH, "\(path)&offset=0", #"{"status": "\#(status)"}"#).status == 400)
      }
      let own = "scavenger_hunts?id=eq.\(hunt.id)"
      #expect(try await alice.rows(own).first?.text("status") == "completed")
      try await expect("hunt_completed", on: "scavenger_hunts:\(hunt.id)", receiver)

      // One that has not begun is deleted, whichever the caller sees before it.
      let draft = try await alice.makeHunt(isActive: false)
      #expect(try await alice.rest(.DELETE, path).status == 204)
      #expect(try await alice.rows("scavenger_hunts?order=id").map { $0.text("id") } == [seenFirst.id, hunt.id])
      try await expect("hunt_deleted", on: "scavenger_hunts:\(draft.id)", receiver)
      #expect(try await alice.rest(.DELETE, path).status == 204)
      #expect(try await alice.count("scavenger_hunts") == 2)
    }
  }

  @Test(arguments: engines) func aCheckpointIsOfTheHuntThatIsADraft(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let seenFirst = try await bob.makeHunt(isActive: false)
      #expect(try await alice.join(seenFirst).status == 200)
      let hunt = try await alice.makeHunt(isActive: false)
      let path = "hunt_checkpoints?title=eq.Find%20it&order=id&limit=1"
      #expect(try await alice.rows(path).map { $0.text("id") } == seenFirst.checkpoints)
      let changed = try await alice.rest(.PATCH, path, #"{"points": 7}"#)
      #expect(changed.list.map { $0.text("id") } == hunt.checkpoints, "\(changed.text)")
      #expect(try await alice.rest(.DELETE, path).status == 204)
      #expect(try await alice.count("hunt_checkpoints?hunt_id=eq.\(hunt.id)") == 0)
      try await eventually("what became of the checkpoint") {
        receiver.events(on: "scavenger_hunts:\(hunt.id)").suffix(2).map(\.change?.type) == [.update, .delete]
      }
      // Bob's is as it was.
      #expect(try await alice.rest(.DELETE, path).status == 204)
      #expect(try await bob.rows("hunt_checkpoints").map { $0.int("points") } == [20])
    }
  }

  @Test(arguments: engines) func whoLeavesIsOnTheLeaderboardNoLonger(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let hunt = try await bob.makeHunt()
      for user in [carol, alice] { #expect(try await user.join(hunt).status == 200) }
      let path = "hunt_participants?hunt_id=eq.\(hunt.id)&order=id&limit=1"
      #expect(try await alice.rows(path).map { $0.text("user_id") } == ["\(carol.id)"])
      #expect(try await alice.rest(.DELETE, path).status == 204)
      #expect(try await bob.rows("hunt_participants").map { $0.text("user_id") } == ["\(carol.id)"])
      #expect(try await bob.rows("hunt_leaderboard").map { $0.text("id") } == ["\(carol.id)"])
      try await expect("participant_left", on: "scavenger_hunts:\(hunt.id)", receiver)
      #expect(try await alice.rows(path).isEmpty)
    }
  }

  @Test(arguments: engines) func aRecipientIsToldOfTheEndOfAShare(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let seenFirst = try await share(bob, with: alice, stack)
      let id = try await share(alice, with: carol, stack)
      let path = "eta_shares?is_active=is.true&order=id&limit=1"
      #expect(try await alice.rows(path).map { $0.text("id") } == [seenFirst])
      let changed = try await alice.rest(.PATCH, path, #"{"recipients": ["\#(bob.id)"]}"#)
      #expect(changed.list.map { $0.text("id") } == [id], "\(changed.text)")
      try await expect("eta_ended", on: "eta_shares:\(carol.id)", receiver)
      #expect(try await carol.rows("eta_shares").isEmpty)
      #expect(try await alice.rest(.DELETE, path).status == 204)
      try await expect("eta_ended", on: "eta_shares:\(bob.id)", receiver)
      // Bob's own share is as it was.
      #expect(try await alice.rest(.DELETE, path).status == 204)
      #expect(try await bob.rows("eta_shares").map { $0.text("id") } == [seenFirst])
    }
  }

  private func share(_ owner: SignedInUser, with other: SignedInUser, _ stack: TestStack) async throws -> String {
    let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
    let body = #"{"route_data": {}, "recipients": ["\#(other.id)"], "expires_at": "\#(end)"}"#
    return try await owner.insert("eta_shares", body).text("id")
  }

  private func expect(_ name: String, on topic: String, _ receiver: EventsReceiver) async throws {
    try await eventually("\(name) on \(topic)") { receiver.events(on: topic).contains { $0.name == name } }
  }
}
