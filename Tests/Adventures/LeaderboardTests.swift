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
}
