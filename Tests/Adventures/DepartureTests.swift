import Clients
import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// What ends for those who leave a group, are removed from it, or see it closed.
@Suite struct DepartureTests {
  @Test(arguments: engines) func whoIsRemovedLosesTheHuntsAtOnce(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let group = try await stack.makeGroup(alice, with: [bob, carol])
      let (joined, seen) = (try await alice.makeHunt(group: group.id), try await alice.makeHunt(group: group.id))
      try await stack.forgetGroups(of: bob, carol)
      // By the code, too, a member takes part as a member.
      #expect(try await bob.join(joined).status == 200)
      #expect(try await carol.rest(.POST, "scavenger_hunts/\(joined.id)/join").status == 200)
      #expect(try await bob.submit(joined.checkpoints[0]).status == 201)
      let participants = "hunt_participants?hunt_id=eq.\(joined.id)"
      #expect(try await alice.count(participants) == 2)

      // Nothing is asked for in bob's name meanwhile.
      try await alice.remove(bob, from: group)
      try await eventually("the end of bob's participation") { try await alice.count(participants) == 1 }
      #expect(try await stack.count("hunt_participant where group_id is not null", in: "adventures") == 1)
      for hunt in [joined, seen] {
        let ended = AccessChange(topic: "scavenger_hunts:\(hunt.id)", user: bob.id, mayRead: false)
        try await eventually("the end of bob's right to read") {
          receiver.events(on: "users:\(bob.id)").contains { $0.access?.contains(ended) ?? false }
        }
      }
      for table in ["scavenger_hunts", "hunt_checkpoints", "hunt_participants", "hunt_leaderboard"] {
        #expect(try await bob.rows(table).isEmpty, "\(table)")
        #expect(try await carol.rows(table).isEmpty == false, "\(table)")
      }
      let topic = "/internal/topics/access?topic=scavenger_hunts:\(joined.id)&user_id="
      let events = stack.adventures.with(stack.with(key: "events"))
      #expect(try await events.get("\(topic)\(bob.id)").bool("read") == false)
      #expect(try await events.get("\(topic)\(carol.id)").bool("read") == true)
      #expect(try await bob.rest(.POST, "scavenger_hunts/\(joined.id)/join").status == 404)
      #expect(try await bob.submit(joined.checkpoints[0]).status == 403)
      // What bob has submitted stays and counts.
      #expect(try await alice.count("checkpoint_submissions?user_id=eq.\(bob.id)") == 1)
      #expect(try await alice.rows("hunt_leaderboard?id=eq.\(bob.id)").first?.int("score") == 20)
    }
  }

  @Test(arguments: engines) func whoLeavesAndComesBackJoinsAnew(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await stack.makeGroup(alice, with: [bob])
      let hunt = try await alice.makeHunt(group: group.id)
      try await stack.forgetGroups(of: bob)
      #expect(try await bob.rest(.POST, "scavenger_hunts/\(hunt.id)/join").status == 200)
      let participants = "hunt_participants?hunt_id=eq.\(hunt.id)"
      try await bob.remove(from: group)
      try await eventually("the end of bob's participation") { try await alice.rows(participants).isEmpty }
      let back = try await bob.rest(.POST, "social_groups/join", #"{"invite_code": "\#(group.code)"}"#)
      #expect(back.status == 200)
      try await eventually("bob's group") { try await bob.count("scavenger_hunts") == 1 }
      #expect(try await bob.rows(participants).isEmpty)
      #expect(try await bob.rest(.POST, "scavenger_hunts/\(hunt.id)/join").status == 200)
      // A message that comes late, or again, ends nothing of whoever is a member.
      let late = try await stack.adventures.with(stack.with(key: "groups")).send(
        .POST, "/internal/groups/\(group.id)/departures", json: ["users": ["\(bob.id)"]])
      #expect(late.status == 204)
      #expect(try await alice.count(participants) == 1)
    }
  }

  @Test(arguments: engines) func aClosedGroupEndsForAllButTheCreator(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, dave) = (try await stack.signIn("carol"), try await stack.signIn("dave"))
      let group = try await stack.makeGroup(alice, with: [bob, carol])
      try await stack.forgetGroups(of: bob, carol)
      let hunt = try await bob.makeHunt(group: group.id)
      for user in [bob, carol, dave] { #expect(try await user.join(hunt).status == 200) }
      #expect(try await alice.rest(.DELETE, "social_groups?id=eq.\(group.id)").status == 204)
      // The creator takes part in a hunt of their own, and dave by its code alone.
      let participants = "hunt_participants?hunt_id=eq.\(hunt.id)"
      try await eventually("the end of carol's participation") { try await bob.count(participants) == 2 }
      for user in [alice, carol] { #expect(try await user.rows("scavenger_hunts").isEmpty) }
      for user in [bob, dave] { #expect(try await user.count("scavenger_hunts") == 1) }
    }
  }

  @Test(arguments: engines) func joiningAndLeavingTheGroupAtOnceLeavesNobodyBehind(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      var members: [SignedInUser] = []
      for number in 0..<8 { members.append(try await stack.signIn("member\(number)")) }
      let group = try await stack.makeGroup(alice, with: members)
      let hunt = try await alice.makeHunt(group: group.id)
      for member in members { try await stack.forgetGroups(of: member) }
      let statuses = try await atOnce(2 * members.count) { [members] number in
        let member = members[number / 2]
        guard number % 2 == 0 else {
          try await member.remove(from: group)
          return 0
        }
        return try await member.rest(.POST, "scavenger_hunts/\(hunt.id)/join").status
      }
      #expect(statuses.allSatisfy { [0, 200, 404].contains($0) }, "\(statuses)")
      try await eventually("the end of all participation") {
        try await alice.rows("hunt_participants?hunt_id=eq.\(hunt.id)").isEmpty
      }
      for member in members {
        #expect(try await member.rows("scavenger_hunts").isEmpty)
        #expect(try await member.rest(.POST, "scavenger_hunts/\(hunt.id)/join").status == 404)
      }
      #expect(try await alice.rows("hunt_participants?hunt_id=eq.\(hunt.id)").isEmpty)
    }
  }

  /// Of the two replicas, one is told of the removal, and the other has asked for the groups a moment before.
  @Test(arguments: engines) func whoIsRemovedDoesNotJoinAtAnotherReplica(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await stack.makeGroup(alice, with: [bob])
      let hunt = try await alice.makeHunt(group: group.id)
      try await stack.withAdventures(wrapDatabase: { $0 }) { replica in
        let app = replica.bearing(bob.access)
        #expect(try await app.get("/rest/v1/scavenger_hunts").list.count == 1)
        try await alice.remove(bob, from: group)
        try await eventually("the end of bob's hunts") { try await bob.rows("scavenger_hunts").isEmpty }
        #expect(try await app.post("/rest/v1/scavenger_hunts/\(hunt.id)/join").status == 404)
        #expect(try await alice.count("hunt_participants?hunt_id=eq.\(hunt.id)") == 0)
      }
    }
  }

  /// A replica of before readers were noted, or one that died, may have left a row behind.
  @Test(arguments: engines) func whoComesBackIsLetInAnewAlsoWhereTheirLeavingWasMissed(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await stack.makeGroup(alice)
      let hunt = try await alice.makeHunt(group: group.id)
      let rows = SQL(stringLiteral: "group_reader where user_id = '\(bob.id)'")
      func told(_ name: String) -> Int { receiver.events(on: "users:\(bob.id)").count { $0.name == name } }
      try await stack.noteReader(bob, of: group)
      // Each asks for bob's groups. One of them ends what was missed, and tells of it.
      _ = try await atOnce(8) { _ in try await stack.forgetGroups(of: bob) }
      #expect(try await bob.rows("scavenger_hunts").isEmpty)
      #expect(try await stack.count(rows, in: "adventures") == 0)
      let back = try await bob.rest(.POST, "social_groups/join", #"{"invite_code": "\#(group.code)"}"#)
      #expect(back.status == 200)
      try await eventually("bob's right to read") { told("hunts_shown") == 1 }
      #expect(told("hunts_hidden") == 1)
      let grant = AccessChange(topic: "scavenger_hunts:\(hunt.id)", user: bob.id, mayRead: true)
      #expect(receiver.events(on: "users:\(bob.id)").last { $0.name == "hunts_shown" }?.access == [grant])
    }
  }

  @Test(arguments: engines) func onlyGroupsTellsWhoHasLeft(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let group = "01a1fd42-9c11-7f3e-8d25-5b7a3c9e1f04"
      for (key, group, count, status) in [
        ("groups", group, 50, 204), ("groups", group, 51, 422), ("groups", "1", 1, 404), ("lists", group, 1, 403),
      ] {
        let reply = try await stack.adventures.with(stack.with(key: key)).send(
          .POST, "/internal/groups/\(group)/departures",
          json: ["users": (0..<count).map { _ in UUID().uuidString }])
        #expect(reply.status == status, "\(key) \(group) \(count): \(reply.text)")
      }
      #expect(try await stack.adventures.post("/internal/groups/x/departures").status == 403)
    }
  }

  /// With a cache that would not end by itself.
  @Test(arguments: engines) func whatIsCachedEndsWithTheMembership(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await stack.makeGroup(alice, with: [bob])
      let memberships = GroupMemberships(
        GroupsClient(in: stack.dependencies(of: "adventures")), lifetime: .seconds(3600))
      let id = try #require(GroupID(group.id))
      #expect(try await memberships.groups(of: bob.id) == [id])
      try await alice.remove(bob, from: group)
      #expect(try await memberships.groups(of: bob.id) == [id])
      memberships.endCache(of: bob.id)
      #expect(try await memberships.groups(of: bob.id).isEmpty)
      // An answer to a call from before the end is not cached.
      let other = try await stack.makeGroup(alice, with: [bob])
      memberships.endCache(of: bob.id)
      _ = try await memberships.member(bob.id) { _ in memberships.endCache(of: alice.id) }
      try await alice.remove(bob, from: other)
      #expect(try await memberships.groups(of: bob.id).isEmpty)
    }
  }

  @Test(arguments: engines) func withoutGroupsNothingOfAHuntIsShownForLong(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      try await alice.insert("saved_places", #"{"name": "Here"}"#)
      _ = try await alice.makeHunt()
      let groups = stack.dependencies.serviceAddresses.urls(of: .groups)
      stack.dependencies.serviceAddresses.set(.groups, to: stack.credits.base)
      try await eventually("the end of what is cached") {
        try await alice.rest(.GET, "scavenger_hunts").status == 503
      }
      #expect(try await alice.count("saved_places") == 1)
      stack.dependencies.serviceAddresses.set(.groups, to: groups)
      try await eventually("groups") { try await alice.rest(.GET, "scavenger_hunts").list.count == 1 }
    }
  }
}

extension TestStack {
  /// The user may read what happens in the group's hunts, as far as adventures has noted it.
  fileprivate func noteReader(_ user: SignedInUser, of group: TestGroup) async throws {
    let database = try await testDatabase.open("adventures", [])
    try await database.write { [user = user.id] db in
      try db.change("insert into group_reader (user_id, group_id) values (\(user), \(GroupID(group.id)))")
    }
    await database.close()
  }
}
