import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// How many arrival times one shares, how many hunts one takes part in, and how many people take part in one hunt.
@Suite struct ParticipationCountTests {
  @Test(arguments: engines) func sharesOfOneUserHaveABound(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let share = #"{"route_data": {}, "recipients": ["\#(bob.id)"], "expires_at": "\#(end)"}"#
      try await addEndedShares(997, of: alice, stack)
      let statuses = try await atOnce(12) { number in
        // With a key it is another path to the same rows.
        let prefer = number.isMultiple(of: 2) ? "resolution=merge-duplicates,return=minimal" : nil
        return try await alice.rest(.POST, "eta_shares", share, prefer: prefer).status
      }
      #expect(statuses.sorted() == Array(repeating: 201, count: 3) + Array(repeating: 400, count: 9))
      let refused = try await alice.rest(.POST, "eta_shares", share)
      #expect(refused.status == 400 && refused.string("code") == "54000", "\(refused.text)")
      #expect(refused.contractCode == "VALIDATION_ERROR")
      #expect(try await stack.count("eta_share where user_id = \(alice.id)", in: "adventures") == 1000)
      // Others have their own, what is there may be changed, and what is deleted makes room.
      #expect(try await bob.count("eta_shares") == 3)
      #expect(try await bob.rest(.POST, "eta_shares", share).status == 201)
      let active = "eta_shares?is_active=eq.true&user_id=eq.\(alice.id)"
      #expect(try await alice.rest(.PATCH, active, #"{"route_data": {"duration": 1}}"#).list.count == 3)
      #expect(try await alice.rest(.DELETE, active).status == 204)
      #expect(try await alice.rest(.POST, "eta_shares", share).status == 201)
    }
  }

  @Test(arguments: engines) func huntsThatOneTakesPartInHaveABound(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      try await addParticipations(997, of: alice, inHuntsOf: carol, stack)
      let many = Array(repeating: #"{"title": "x"}"#, count: 12).joined(separator: ",")
      let hunts = try await bob.rest(.POST, "scavenger_hunts", "[\(many)]").list
        .map { TestHunt(id: $0.text("id"), code: $0.text("invite_code"), checkpoints: []) }
      try #require(hunts.count == 12)
      let replies = try await atOnce(12) { number in
        let reply = try await alice.join(hunts[number])
        return (number: number, status: reply.status, code: reply.string("code"))
      }
      let joined = replies.filter { $0.status == 200 }
      let refused = replies.filter { $0.status == 400 && $0.code == "54000" }
      #expect(joined.count == 3 && refused.count == 9, "\(replies)")
      let own: SQL = "hunt_participant where user_id = \(alice.id)"
      #expect(try await stack.count(own, in: "adventures") == 1000)
      // Who is in already may ask again, others have their own, and leaving makes room.
      let (inside, outside) = (try #require(joined.first), try #require(refused.first))
      let (first, last) = (hunts[inside.number], hunts[outside.number])
      #expect(try await alice.join(first).status == 200)
      #expect(try await bob.join(last).status == 200)
      #expect(try await alice.count("scavenger_hunts?id=eq.\(last.id)") == 0)
      let row = "hunt_participants?hunt_id=eq.\(first.id)&user_id=eq.\(alice.id)"
      #expect(try await alice.rest(.DELETE, row).status == 204)
      #expect(try await alice.join(last).status == 200)
      #expect(try await stack.count(own, in: "adventures") == 1000)
    }
  }

  @Test(arguments: engines) func participantsOfOneHuntHaveABound(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let others = [try await stack.signIn("bob"), try await stack.signIn("carol"), try await stack.signIn("dave")]
      let hunt = try await alice.makeHunt(isActive: false)
      try await addParticipants(9999, to: hunt, stack)
      let replies = try await atOnce(others.count) { number in
        let reply = try await others[number].join(hunt)
        return reply.status == 200 ? "in" : "\(reply.status) \(reply.string("code"))"
      }
      #expect(replies.sorted() == ["400 54000", "400 54000", "in"])
      #expect(try await alice.rows("scavenger_hunts?id=eq.\(hunt.id)").first?.int("participant_count") == 10_000)
    }
  }

  private func addEndedShares(_ count: Int, of user: SignedInUser, _ stack: TestStack) async throws {
    let now = stack.clock.now
    try await insert(
      (0..<count).map { _ in
        "(\(ID<Any>.new(at: now)), \(user.id), '{}', '[]', false, \(now), \(now), \(now))"
      },
      "eta_share (id, user_id, route_data, recipients, is_active, expires_at, created_at, updated_at)", stack)
  }

  private func addParticipations(
    _ count: Int, of user: SignedInUser, inHuntsOf creator: SignedInUser, _ stack: TestStack
  ) async throws {
    let now = stack.clock.now
    let hunts = (0..<count).map { (id: ID<Any>.new(at: now), code: "TEST-\($0)") }
    try await insert(
      hunts.map { "(\($0.id), \(creator.id), 'x', \($0.code), \(now), \(now))" },
      "hunt (id, created_by, title, invite_code, created_at, updated_at)", stack)
    try await insert(
      hunts.map { "(\(ID<Any>.new(at: now)), \($0.id), \(user.id), \(now))" },
      "hunt_participant (id, hunt_id, user_id, joined_at)", stack)
  }

  private func addParticipants(_ count: Int, to hunt: TestHunt, _ stack: TestStack) async throws {
    let (now, id) = (stack.clock.now, ID<Any>(hunt.id))
    try await insert(
      (0..<count).map { _ in "(\(ID<Any>.new(at: now)), \(id), \(UserID.new(at: now)), \(now))" },
      "hunt_participant (id, hunt_id, user_id, joined_at)", stack)
  }

  /// - Parameter columns: the table with its columns.
  private func insert(_ rows: [SQL], _ columns: SQL, _ stack: TestStack) async throws {
    let database = try await stack.testDatabase.open("adventures", [])
    try await database.write { db in
      for chunk in rows.statementChunks { try db.change("insert into \(columns) values \(rows: chunk)") }
    }
    await database.close()
  }
}
