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

  /// Rows that fill their pages, and one that begins the next.
  @Test(arguments: engines) func anExportHasEachRowOnce(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let auth = stack.adventures.with(stack.with(key: "auth"))
      let path = "/internal/users/\(alice.id)/data"
      let tables = [
        "adventure_plans", "saved_places", "eta_shares", "scavenger_hunts", "hunt_participants",
        "checkpoint_submissions",
      ]
      let empty = try await auth.get(path)
      #expect(empty.status == 200 && Set((empty.json as? [String: Any] ?? [:]).keys) == Set(tables), "\(empty.text)")
      for table in tables { #expect((empty[table] as? [Any])?.isEmpty == true, "\(table)") }

      for (table, column, counts) in [("adventure_plans", "title", [10, 1]), ("saved_places", "name", [200, 1])] {
        var expected = 0
        for count in counts {
          let rows = (0..<count).map { #"{"\#(column)": "\#(expected + $0)"}"# }.joined(separator: ",")
          #expect(try await alice.rest(.POST, table, "[\(rows)]", prefer: "return=minimal").status == 201)
          expected += count
          let rowsOfAlice = try await auth.get(path)[table] as? [[String: Any]] ?? []
          #expect(rowsOfAlice.map { $0.text(column) }.sorted() == (0..<expected).map(String.init).sorted(), "\(table)")
          #expect(rowsOfAlice.map { $0.text("id") } == rowsOfAlice.map { $0.text("id") }.sorted(), "\(table)")
        }
      }
      // What is of others is not in it.
      try await bob.insert("saved_places", #"{"name": "Bob's"}"#)
      let hunt = try await bob.makeHunt(points: [1, 2])
      #expect(try await alice.join(hunt).status == 200)
      for checkpoint in hunt.checkpoints { #expect(try await alice.submit(checkpoint).status == 201) }
      let export = try await auth.get(path)
      #expect(!export.text.contains("Bob's") && (export["scavenger_hunts"] as? [Any])?.isEmpty == true)
      let participations = export["hunt_participants"] as? [[String: Any]]
      #expect(participations?.map { $0.text("hunt_id") } == [hunt.id])
      let submissions = export["checkpoint_submissions"] as? [[String: Any]]
      #expect(submissions?.map { $0.text("checkpoint_id") } == hunt.checkpoints.sorted())
      let members: Set = ["id", "checkpoint_id", "photo_url", "submitted_at", "verified"]
      #expect(submissions?.first.map { Set($0.keys) } == members)
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
