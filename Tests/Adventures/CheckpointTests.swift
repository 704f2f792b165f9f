import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// Checkpoints of a draft, which their creator puts in order.
@Suite struct CheckpointTests {
  @Test(arguments: engines) func whatIsThereKeepsItsPlace(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt(points: [1, 2, 3], isActive: false)
      let (first, second) = (hunt.checkpoints[0], hunt.checkpoints[1])
      func body(_ id: String, _ title: String) -> String {
        #"{"id": "\#(id)", "hunt_id": "\#(hunt.id)", "title": "\#(title)"}"#
      }
      let put = try await alice.rest(.PUT, "hunt_checkpoints?id=eq.\(first)", body(first, "Put"))
      #expect(put.status == 200 && put.list.first?.int("order_index") == 0, "\(put.text)")
      let new = ID<Any>.new(at: stack.clock.now).description
      let merge = "resolution=merge-duplicates,return=representation"
      let merged = try await alice.rest(
        .POST, "hunt_checkpoints", "[\(body(second.uppercased(), "Merged")), \(body(new, "New"))]", prefer: merge)
      #expect(merged.status == 201, "\(merged.text)")
      #expect(merged.list.map { $0.int("order_index") } == [1, 3], "\(merged.text)")
      // One that says where it belongs is there.
      let moved = try await alice.rest(
        .POST, "hunt_checkpoints",
        #"{"id": "\#(new)", "hunt_id": "\#(hunt.id)", "title": "Moved", "order_index": 7}"#, prefer: merge)
      #expect(moved.status == 200 && moved.list.first?.int("order_index") == 7, "\(moved.text)")
      let titles = try await alice.rows("hunt_checkpoints?hunt_id=eq.\(hunt.id)&order=order_index")
      #expect(titles.map { $0.text("title") } == ["Put", "Merged", "Find it", "Moved"])
      try await eventually("what happened to the checkpoints") {
        let changes = receiver.events(on: "scavenger_hunts:\(hunt.id)").compactMap(\.change)
          .filter { $0.table == "hunt_checkpoints" }.suffix(4)
        return changes.map(\.type) == [.update, .insert, .update, .update]
          && changes.compactMap { $0.record?["id"] } == [first, new, second, new].map { JSONValue.string($0) }
      }

      // Another's checkpoint is not taken over, nor are those of a hunt that has begun.
      let theirs = try await bob.makeHunt(isActive: false)
      let theft = #"{"id": "\#(first)", "hunt_id": "\#(theirs.id)", "title": "Mine"}"#
      #expect(try await bob.rest(.POST, "hunt_checkpoints", theft, prefer: merge).status == 409)
      _ = try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", #"{"status": "active"}"#)
      let late = try await alice.rest(.POST, "hunt_checkpoints", body(first, "Late"), prefer: merge)
      #expect(late.status == 409 || late.status == 403, "\(late.text)")
      #expect(try await alice.rows("hunt_checkpoints?id=eq.\(first)").first?.text("title") == "Put")
    }
  }

  @Test(arguments: engines) func aBodyMakesAThousandOfThemAtMost(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      func hunts(_ count: Int, of checkpoints: Int) -> String {
        let nested = Array(repeating: #"{"title": "x"}"#, count: checkpoints).joined(separator: ",")
        let hunt = #"{"title": "many", "checkpoints": [\#(nested)]}"#
        return "[\(Array(repeating: hunt, count: count).joined(separator: ","))]"
      }
      for (count, checkpoints) in [(6, 200), (1, 201), (1000, 2)] {
        let refused = try await alice.rest(.POST, "scavenger_hunts", hunts(count, of: checkpoints))
        #expect(refused.status == 400 && refused.string("code") == "23514", "\(count): \(refused.text)")
      }
      #expect(try await alice.count("scavenger_hunts") == 0)
      let made = try await alice.rest(.POST, "scavenger_hunts", hunts(5, of: 200))
      #expect(made.status == 201 && made.list.map { $0.int("checkpoint_count") } == [200, 200, 200, 200, 200])
    }
  }

  @Test(arguments: engines) func eachNestedOneHasWhatItSaysAndDefaultsElse(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let nested = """
        [{"title": "a"}, {"photo_required": true, "title": "b", "points": 3, "description": null},
        {"title": "c", "order_index": 9, "location": {"latitude": 1, "longitude": 2}, "junk": 1}]
        """
      try await alice.insert("scavenger_hunts", #"{"title": "x", "checkpoints": \#(nested)}"#)
      let found = try await alice.rows("hunt_checkpoints?order=order_index")
      #expect(found.map { $0.text("title") } == ["a", "b", "c"])
      #expect(found.map { $0.int("points") } == [10, 3, 10])
      #expect(found.map { $0.int("order_index") } == [0, 1, 9])
      #expect(found.map { $0["photo_required"] as? Bool } == [false, true, false])
      // Without a title none is made, nor their hunt.
      let refused = try await alice.rest(
        .POST, "scavenger_hunts", #"{"title": "y", "checkpoints": [{"title": "a"}, {"points": 1}]}"#)
      #expect(refused.status == 400 && refused.string("code") == "23502", "\(refused.text)")
      #expect(try await alice.count("scavenger_hunts") == 1)
    }
  }
}
