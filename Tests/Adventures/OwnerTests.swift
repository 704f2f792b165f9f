import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// Every table and verb, as its owner, a participant, a stranger, and somebody who has left.
@Suite struct OwnerTests {
  @Test(arguments: engines) func rowsOfOthersDoNotExist(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, mallory) = (try await stack.signIn("alice"), try await stack.signIn("mallory"))
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let bodies = [
        "adventure_plans": #"{"title": "Mine"}"#, "saved_places": #"{"name": "Mine"}"#,
        "eta_shares": #"{"route_data": {}, "recipients": ["\#(alice.id)"], "expires_at": "\#(end)"}"#,
        "scavenger_hunts": #"{"title": "Mine", "checkpoints": [{"title": "Here"}]}"#,
      ]
      let changes = [
        "adventure_plans": #"{"title": "Theirs"}"#, "saved_places": #"{"name": "Theirs"}"#,
        "eta_shares": #"{"is_active": false}"#, "scavenger_hunts": #"{"title": "Theirs"}"#,
      ]
      for (table, body) in bodies {
        let row = try await alice.insert(table, body)
        let path = "\(table)?id=eq.\(row.text("id"))"
        #expect(try await mallory.rows(path).isEmpty, "\(table)")
        let changed = try await mallory.rest(.PATCH, path, changes[table])
        #expect(changed.status == 200 && changed.list.isEmpty, "\(table): \(changed.text)")
        let deleted = try await mallory.rest(.DELETE, path, prefer: "return=representation")
        #expect(deleted.status == 200 && deleted.list.isEmpty, "\(table): \(deleted.text)")
        #expect(try await stack.gateway.get("/rest/v1/\(path)").status == 401)
        let same = try await mallory.rest(.POST, table, Self.with(id: row.text("id"), body))
        #expect(same.status == 409 && same.string("code") == "23505", "\(table): \(same.text)")
        let mine = try await alice.rows(path)
        #expect(mine.count == 1 && !mine[0].values.contains { $0 as? String == "Theirs" }, "\(table)")
      }
    }
  }

  @Test(arguments: engines) func ownersCannotBeForged(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, mallory) = (try await stack.signIn("alice"), try await stack.signIn("mallory"))
      for (table, owner, name) in [
        ("adventure_plans", "user_id", "title"), ("saved_places", "user_id", "name"),
        ("scavenger_hunts", "created_by", "title"),
      ] {
        let forged = try await mallory.rest(.POST, table, #"{"\#(name)": "x", "\#(owner)": "\#(alice.id)"}"#)
        #expect(forged.status == 403 && forged.string("code") == "42501", "\(forged.text)")
        #expect(forged.contractCode == "PERMISSION_DENIED")
        let own = try await mallory.rest(
          .POST, table, #"{"\#(name)": "x", "\#(owner)": "\#(mallory.id.description.uppercased())"}"#)
        #expect(own.status == 201, "\(own.text)")
        let given = try await mallory.rest(.PATCH, "\(table)?\(name)=eq.x", #"{"\#(owner)": "\#(alice.id)"}"#)
        #expect(given.status == 403, "\(given.text)")
        #expect(try await alice.rows(table).isEmpty)
      }
    }
  }

  @Test(arguments: engines) func unfilteredChangesAreRefused(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      try await alice.insert("saved_places", #"{"name": "Here"}"#)
      for table in ["adventure_plans", "saved_places", "scavenger_hunts", "eta_shares", "hunt_checkpoints"] {
        #expect(try await alice.rest(.DELETE, table).status == 400, "\(table)")
      }
      #expect(try await alice.rest(.PATCH, "saved_places", #"{"name": "All"}"#).status == 400)
      #expect(try await alice.rows("saved_places").map { $0.text("name") } == ["Here"])
    }
  }

  @Test(arguments: engines) func whatBelongsToAHuntIsSeenWithIt(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let mallory = try await stack.signIn("mallory")
      let hunt = try await alice.makeHunt()
      #expect(try await bob.join(hunt).status == 200)
      #expect(try await bob.submit(hunt.checkpoints[0]).status == 201)
      let paths = [
        "scavenger_hunts?id=eq.\(hunt.id)", "hunt_checkpoints?hunt_id=eq.\(hunt.id)",
        "hunt_participants?hunt_id=eq.\(hunt.id)", "checkpoint_submissions?checkpoint_id=eq.\(hunt.checkpoints[0])",
        "hunt_leaderboard?hunt_id=eq.\(hunt.id)",
      ]
      for path in paths {
        #expect(try await alice.rows(path).count == 1, "\(path)")
        #expect(try await bob.rows(path).count == 1, "\(path)")
        #expect(try await mallory.rows(path).isEmpty, "\(path)")
      }
      // Only its creator changes it, and verifies what was submitted.
      #expect(try await bob.rest(.PATCH, paths[0], #"{"title": "Mine"}"#).list.isEmpty)
      #expect(try await bob.rest(.PATCH, paths[3], #"{"verified": true}"#).list.isEmpty)
      #expect(try await alice.rest(.PATCH, paths[3], #"{"verified": true}"#).list.first?["verified"] as? Bool == true)
      #expect(try await mallory.submit(hunt.checkpoints[0]).status == 403)
      #expect(try await alice.submit(hunt.checkpoints[0]).status == 403)
      #expect(try await alice.rest(.DELETE, "\(paths[2])&user_id=eq.\(bob.id)").status == 204)
      #expect(try await alice.rows(paths[2]).count == 1)
      // Who has left sees it no longer; what they have submitted counts.
      #expect(try await bob.rest(.DELETE, paths[2]).status == 204)
      for path in paths { #expect(try await bob.rows(path).isEmpty, "\(path)") }
      #expect(try await alice.rows(paths[4]).first?.int("score") == 20)
      #expect(try await bob.submit(hunt.checkpoints[0]).status == 403)
    }
  }

  private static func with(id: String, _ body: String) -> String {
    #"{"id": "\#(id)", "# + body.dropFirst()
  }
}
