import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// How many rows one has: what is beyond is refused, and changes nothing.
@Suite struct RowCountTests {
  @Test(arguments: engines) func plansAndHuntsHaveABound(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      for table in ["adventure_plans", "scavenger_hunts"] {
        let most = Array(repeating: #"{"title": "x"}"#, count: 999).joined(separator: ",")
        #expect(try await alice.rest(.POST, table, "[\(most)]", prefer: "return=minimal").status == 201, "\(table)")
        let last = try await alice.rest(.POST, table, #"{"title": "last"}"#)
        #expect(last.status == 201, "\(last.text)")
        let refused = try await alice.rest(.POST, table, #"{"title": "more"}"#)
        #expect(refused.status == 400 && refused.string("code") == "54000", "\(table): \(refused.text)")
        #expect(try await alice.count("\(table)?title=eq.more") == 0, "\(table)")
        // Others have their own, and what is deleted makes room.
        #expect(try await bob.rest(.POST, table, #"{"title": "x"}"#).status == 201, "\(table)")
        #expect(try await alice.rest(.DELETE, "\(table)?title=eq.last").status == 204, "\(table)")
        #expect(try await alice.rest(.POST, table, #"{"title": "more"}"#).status == 201, "\(table)")
      }
    }
  }

  @Test(arguments: engines) func checkpointsOfAHuntHaveABound(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let hunt = try await alice.makeHunt(points: [1], isActive: false)
      let row = #"{"hunt_id": "\#(hunt.id)", "title": "x"}"#
      let most = Array(repeating: row, count: 999).joined(separator: ",")
      #expect(try await alice.rest(.POST, "hunt_checkpoints", "[\(most)]", prefer: "return=minimal").status == 201)
      let refused = try await alice.rest(.POST, "hunt_checkpoints", row)
      #expect(refused.status == 400 && refused.string("code") == "54000", "\(refused.text)")
      #expect(try await alice.rows("scavenger_hunts?id=eq.\(hunt.id)").first?.int("checkpoint_count") == 1000)
      let other = try await alice.makeHunt(points: [], isActive: false)
      let second = #"{"hunt_id": "\#(other.id)", "title": "x"}"#
      #expect(try await alice.rest(.POST, "hunt_checkpoints", second).status == 201)
    }
  }
}
