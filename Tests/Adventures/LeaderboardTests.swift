import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// Names and order of leaderboards.
@Suite struct LeaderboardTests {
  @Test(arguments: engines) func namesStayWhileAuthIsAway(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt(points: [1, 2, 3])
      #expect(try await bob.join(hunt).status == 200)
      #expect(try await bob.submit(hunt.checkpoints[0]).status == 201)
      func name() async throws -> String? { try await alice.rows("hunt_leaderboard").first?["name"] as? String }
      let known = try #require(try await name())

      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      stack.clock.advance(by: .seconds(301))
      #expect(try await name() == known)
      #expect(try await bob.submit(hunt.checkpoints[1]).status == 201)
      #expect(try await name() == known)

      // A new name is shown when auth is back.
      stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
      try await eventually("auth") {
        try await bob.rest(.PATCH, "users?id=eq.\(bob.id)", #"{"display_name": "Robert"}"#).status == 200
      }
      stack.clock.advance(by: .seconds(301))
      try await eventually("the new name") { try await name() == "Robert" }
    }
  }

  @Test(arguments: engines) func whatHasNoPointsDoesNotBreakATie(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let hunt = try await alice.makeHunt(points: [5, 0, 3])
      for person in [bob, carol] { #expect(try await person.join(hunt).status == 200) }
      func ranks() async throws -> [String] {
        try await alice.rows("hunt_leaderboard?hunt_id=eq.\(hunt.id)").map { $0.text("id") }
      }
      for (person, checkpoint) in [(bob, 0), (carol, 0), (bob, 1)] {
        #expect(try await person.submit(hunt.checkpoints[checkpoint]).status == 201)
        stack.clock.advance(by: .seconds(10))
      }
      #expect(try await ranks() == ["\(bob.id)", "\(carol.id)"])
      // What has points does: both have eight, and bob came last.
      for person in [carol, bob] {
        #expect(try await person.submit(hunt.checkpoints[2]).status == 201)
        stack.clock.advance(by: .seconds(10))
      }
      #expect(try await ranks() == ["\(carol.id)", "\(bob.id)"])
    }
  }

  /// Times are shown in whole seconds. Who was there first is first also within one.
  @Test(arguments: engines) func whoWasFirstByLessThanASecondIsFirst(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let people = [try await stack.signIn("bob"), try await stack.signIn("carol")]
      for order in [people, people.reversed()] {
        let hunt = try await alice.makeHunt(points: [5, 0])
        for person in people { #expect(try await person.join(hunt).status == 200) }
        // To the beginning of a second.
        let fraction = stack.clock.now.timeIntervalSince1970.truncatingRemainder(dividingBy: 1)
        stack.clock.advance(by: .seconds(1 - fraction))
        for person in order {
          #expect(try await person.submit(hunt.checkpoints[0]).status == 201)
          stack.clock.advance(by: .milliseconds(100))
        }
        // What has no points changes nothing.
        #expect(try await order[0].submit(hunt.checkpoints[1]).status == 201)
        for (query, expected) in [
          ("", order), ("&order=score,last_submitted_at.desc", order.reversed()),
        ] {
          let rows = try await alice.rows("hunt_leaderboard?hunt_id=eq.\(hunt.id)\(query)")
          #expect(rows.map { $0.text("id") } == expected.map(\.id.description), "\(query)")
          #expect(Set(rows.map { $0.text("last_submitted_at") }).count == 1)
          #expect(rows.allSatisfy { $0["scored_at"] == nil })
        }
      }
    }
  }

  @Test(arguments: engines) func pagesOfAllHuntsHaveEachRowOnce(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      var hunts: [String] = []
      for _ in 0..<6 {
        let hunt = try await alice.makeHunt()
        hunts.append(hunt.id)
        #expect(try await bob.join(hunt).status == 200)
      }
      for order in ["", "&order=score", "&order=id.desc"] {
        var found: [String] = []
        for offset in 0..<6 {
          found += try await alice.rows("hunt_leaderboard?limit=1&offset=\(offset)\(order)").map { $0.text("hunt_id") }
        }
        #expect(found.sorted() == hunts.sorted(), "\(order)")
      }
    }
  }
}
