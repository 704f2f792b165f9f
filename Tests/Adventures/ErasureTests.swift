import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// What is left of somebody who is erased, and what they are given before.
@Suite struct ErasureTests {
  @Test(arguments: engines) func everythingOfAUserIsExportedAndErased(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      try await alice.insert("saved_places", #"{"name": "Secret cove"}"#)
      try await alice.insert("adventure_plans", #"{"title": "Secret plan", "stops": [{"name": "Secret stop"}]}"#)
      let own = try await alice.makeHunt()
      #expect(try await bob.join(own).status == 200)
      let other = try await bob.makeHunt()
      #expect(try await alice.join(other).status == 200)
      #expect(try await alice.submit(other.checkpoints[0]).status == 201)
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let share = #"{"route_data": {}, "recipients": ["\#(alice.id)"], "expires_at": "\#(end)"}"#
      try await bob.insert("eta_shares", share)
      try await alice.insert("eta_shares", share.replacing("\(alice.id)", with: "\(bob.id)"))
      #expect(try await bob.rows("hunt_leaderboard?hunt_id=eq.\(other.id)").first?["name"] is String)
      for rows in Self.rows(of: alice) { #expect(try await stack.count(rows, in: "adventures") > 0, "\(rows.text)") }

      let auth = stack.adventures.with(stack.with(key: "auth"))
      let export = try await auth.get("/internal/users/\(alice.id)/data")
      #expect(export.text.contains("Secret cove") && export.text.contains("Secret stop"))
      for table in [
        "adventure_plans", "saved_places", "scavenger_hunts", "hunt_participants", "checkpoint_submissions",
        "eta_shares",
      ] {
        #expect((export[table] as? [Any])?.count == 1, "\(table): \(export.text)")
      }
      #expect(try await auth.delete("/internal/users/\(alice.id)/data").status == 204)
      #expect(try await auth.delete("/internal/users/\(alice.id)/data").status == 204)
      #expect(try await bob.rows("scavenger_hunts").map { $0.text("id") } == [other.id])
      #expect(try await bob.rows("hunt_leaderboard").isEmpty)
      let recipients = try await bob.rows("eta_shares").first?["recipients"] as? [String]
      #expect(recipients == [])
      for table in ["adventure_plan", "saved_place", "hunt_participant", "checkpoint_submission", "hunt_score"] {
        let count = try await stack.count(SQL(stringLiteral: table), in: "adventures")
        #expect(count == 0, "\(table)")
      }
      for rows in Self.rows(of: alice) { #expect(try await stack.count(rows, in: "adventures") == 0, "\(rows.text)") }
      // What is bob's is there.
      #expect(try await stack.count("hunt", in: "adventures") == 1)
      #expect(try await bob.count("eta_shares") == 1)
      #expect(try await stack.count("eta_recipient", in: "adventures") == 0)
    }
  }

  @Test(arguments: engines) func othersAreToldOfWhatEndsWithAUser(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (own, other) = (try await alice.makeHunt(), try await bob.makeHunt())
      #expect(try await alice.join(other).status == 200)
      _ = try await stack.makeGroup(bob, with: [alice])
      let reader = SQL(stringLiteral: "group_reader where user_id = '\(alice.id)'")
      try await eventually("the group") { try await stack.count(reader, in: "adventures") == 1 }
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let share = #"{"route_data": {}, "recipients": ["\#(bob.id)"], "expires_at": "\#(end)"}"#
      let shared = try await alice.insert("eta_shares", share).text("id")
      let over = try await alice.insert("eta_shares", share).text("id")
      #expect(try await alice.rest(.PATCH, "eta_shares?id=eq.\(over)", #"{"is_active": false}"#).status < 300)
      try await eventually("all events of before") {
        receiver.events(on: "eta_shares:\(bob.id)").map(\.name) == ["eta_shared", "eta_shared", "eta_ended"]
          && receiver.events(on: "scavenger_hunts:\(other.id)").last?.name == "participant_joined"
      }
      let auth = stack.adventures.with(stack.with(key: "auth"))
      #expect(try await auth.delete("/internal/users/\(alice.id)/data").status == 204)
      #expect(try await stack.count(reader, in: "adventures") == 0)

      try await eventually("the end of the share") {
        receiver.events(on: "eta_shares:\(bob.id)").count == 4
          && receiver.events(on: "scavenger_hunts:\(other.id)").last?.name == "participant_left"
          && receiver.events(on: "scavenger_hunts:\(own.id)").last?.name == "hunt_deleted"
      }
      // The one that was over has ended before.
      let ended = try #require(receiver.events(on: "eta_shares:\(bob.id)").last)
      #expect(ended.name == "eta_ended" && ended.change?.oldRecord?["id"] == .string(shared))
      #expect(ended.topics == ["eta_shares:\(bob.id)"])
      let left = try #require(receiver.events(on: "scavenger_hunts:\(other.id)").last)
      #expect(left.payload["user_id"] == .string(alice.id.description) && left.change?.type == .delete)
      #expect(left.topics == ["scavenger_hunts:\(other.id)"])
      let deleted = try #require(receiver.events(on: "scavenger_hunts:\(own.id)").last)
      #expect(
        deleted.access == [
          .end(of: "scavenger_hunts:\(own.id)"), .end(of: "checkpoint_submissions:\(own.id)"),
        ])
    }
  }

  @Test(arguments: engines) func whatTheySubmittedIsDeletedRows(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await bob.makeHunt(points: [20, 30])
      #expect(try await alice.join(hunt).status == 200)
      for checkpoint in hunt.checkpoints { #expect(try await alice.submit(checkpoint).status == 201) }
      let ids = Set(try await alice.rows("checkpoint_submissions").map { JSONValue.string($0.text("id")) })
      let auth = stack.adventures.with(stack.with(key: "auth"))
      #expect(try await auth.delete("/internal/users/\(alice.id)/data").status == 204)
      let topic = "checkpoint_submissions:\(hunt.id)"
      try await eventually("the end of both") { receiver.events(on: topic).last?.name == "submissions_deleted" }
      let deleted = try #require(receiver.events(on: topic).last)
      #expect(deleted.payload == .object(["hunt_id": .string(hunt.id)]) && deleted.topics == [topic])
      let rows = [deleted.change].compactMap(\.self) + (deleted.changes ?? [])
      #expect(rows.count == 2 && rows.allSatisfy { $0.table == "checkpoint_submissions" && $0.type == .delete })
      #expect(Set(rows.map { $0.oldRecord?["id"] }) == ids)
    }
  }

  @Test(arguments: engines) func aShareHasARecipientLessAndSaysSo(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let recipients = #"["\#(bob.id)", "\#(carol.id)"]"#
      let share = try await alice.insert(
        "eta_shares", #"{"route_data": {}, "recipients": \#(recipients), "expires_at": "\#(end)"}"#)
      let auth = stack.adventures.with(stack.with(key: "auth"))
      #expect(try await auth.delete("/internal/users/\(bob.id)/data").status == 204)
      for reader in [alice, carol] {
        let topic = "eta_shares:\(reader.id)"
        try await eventually("the change") {
          receiver.events(on: topic).map(\.name) == ["eta_shared", "eta_changed"]
        }
        let change = try #require(receiver.events(on: topic).last?.change)
        #expect(change.type == .update && change.record?["id"] == .string(share.text("id")))
        #expect(change.record?["recipients"] == .array([.string("\(carol.id)")]))
      }
    }
  }

  private static func rows(of user: SignedInUser) -> [SQL] {
    [
      ("eta_share", "user_id"), ("eta_recipient", "user_id"), ("hunt", "created_by"), ("participant_name", "user_id"),
      ("hunt_participant", "user_id"), ("hunt_score", "user_id"), ("checkpoint_submission", "user_id"),
    ].map { table, column in SQL(stringLiteral: "\(table) where \(column) = '\(user.id)'") }
  }
}
