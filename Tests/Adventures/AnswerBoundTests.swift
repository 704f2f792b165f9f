import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// How large the rows of an answer, and those of a change, may be together.
@Suite struct AnswerBoundTests {
  @Test(arguments: engines) func largePlansAreReadAFewAtATime(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, _ in
      let alice = try await stack.signIn("alice")
      try await addLargePlans(34, of: alice, stack)
      for query in ["", "?select=stops,route_data", "?user_id=eq.\(alice.id)&order=created_at"] {
        let refused = try await alice.rest(.GET, "adventure_plans\(query)")
        #expect(refused.status == 400 && refused.string("code") == "54000", "\(query): \(refused.status)")
        #expect(refused.contractCode == "VALIDATION_ERROR" && !refused.string("hint").isEmpty, "\(query)")
      }
      #expect(try await alice.count("adventure_plans?limit=30") == 30)
      #expect(try await alice.count("adventure_plans?limit=30&offset=30") == 4)
      #expect(try await alice.count("adventure_plans?select=id,title") == 34)
      let counted = try await alice.rest(.HEAD, "adventure_plans", prefer: "count=exact")
      #expect(counted.status == 200 && counted.headers.first(name: "content-range") == "0-33/34")
    }
  }

  @Test(arguments: engines) func allOfThemAreExported(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      try await addLargePlans(34, of: alice, stack)
      let checkpoints = Array(repeating: #"{"title": "Here"}"#, count: 12).joined(separator: ",")
      for title in ["One", "Two"] {
        try await alice.insert("scavenger_hunts", #"{"title": "\#(title)", "checkpoints": [\#(checkpoints)]}"#)
      }
      let export = try await stack.adventures.with(stack.with(key: "auth")).get("/internal/users/\(alice.id)/data")
      #expect((export["adventure_plans"] as? [Any])?.count == 34, "\(export.status)")
      let hunts = export["scavenger_hunts"] as? [[String: Any]]
      #expect(hunts?.map { $0.text("title") } == ["One", "Two"])
      #expect(hunts?.map { ($0["hunt_checkpoints"] as? [Any])?.count } == [12, 12])
    }
  }

  /// Each changed row is in an event.
  @Test(arguments: engines) func largePlansAreChangedAFewAtATime(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      try await addLargePlans(34, of: alice, stack)
      let (path, body) = ("adventure_plans?title=eq.large", #"{"status": "active"}"#)
      for preference in ["return=minimal", "return=representation"] {
        let refused = try await alice.rest(.PATCH, path, body, prefer: preference)
        #expect(refused.status == 400 && refused.string("code") == "54000", "\(preference): \(refused.status)")
      }
      #expect(try await alice.count("adventure_plans?status=eq.active&select=id") == 0)
      let one = try await alice.rest(.PATCH, "\(path)&order=id&limit=1", body, prefer: "return=minimal")
      #expect(one.status == 204, "\(one.text)")
      #expect(try await alice.count("adventure_plans?status=eq.active&select=id") == 1)
      try await eventually("the event") { receiver.events(on: "adventures:\(alice.id)").count == 1 }
    }
  }

  /// Rows of half a megabyte.
  private func addLargePlans(_ count: Int, of user: SignedInUser, _ stack: TestStack) async throws {
    let text = String(repeating: "x", count: 255_000)
    let (stops, route, now) = (#"["\#(text)"]"#, #"{"a":"\#(text)"}"#, stack.clock.now)
    let database = try await stack.testDatabase.open("adventures", [])
    try await database.write { db in
      for _ in 0..<count {
        try db.change(
          """
          insert into adventure_plan (id, user_id, title, stops, route_data, created_at, updated_at)
          values (\(ID<Any>.new(at: now)), \(user.id), 'large', \(stops), \(route), \(now), \(now))
          """)
      }
    }
    await database.close()
  }

  @Test(arguments: engines) func whatIsAsDeepAsABodyMayBeIsInAnEvent(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      for (depth, status) in [(64, 201), (65, 400)] {
        let stops = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let made = try await alice.rest(.POST, "adventure_plans", #"{"title": "deep", "stops": \#(stops)}"#)
        #expect(made.status == status, "\(depth): \(made.text)")
      }
      #expect(try await alice.count("adventure_plans") == 1)
      try await eventually("the event") { receiver.events(on: "adventures:\(alice.id)").count == 1 }
    }
  }
}
