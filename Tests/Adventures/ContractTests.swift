import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// The samples of the contract, line by line and as they are written there, through the gateway.
@Suite struct ContractTests {
  @Test(arguments: engines) func plansAreMadeReadChangedAndDeleted(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let made = try await alice.rest(
        .POST, "adventure_plans",
        """
        {
          "title": "Weekend Adventure",
          "description": "A fun weekend trip",
          "stops": [
            {
              "name": "Coffee Shop",
              "address": "123 Main St",
              "latitude": 37.7749,
              "longitude": -122.4194
            }
          ]
        }
        """)
      #expect(made.status == 201, "\(made.text)")
      #expect(made.headers.first(name: "preference-applied") == "return=representation")
      let plan = try #require(made.list.first)
      #expect(plan.text("user_id") == "\(alice.id)")
      #expect(plan.text("status") == "draft")
      #expect(Self.isModelTime(plan.text("created_at")))
      let id = plan.text("id")

      let read = try await alice.rest(.GET, "adventure_plans?user_id=eq.\(alice.id)")
      #expect(read.status == 200)
      #expect(read.list.count == 1)
      let stop = (read.list.first?["stops"] as? [[String: Any]])?.first
      #expect((stop?["latitude"] as? NSNumber)?.doubleValue == 37.7749)
      #expect(read.headers.first(name: "cache-control") == "private, max-age=1800")
      #expect(read.headers.first(name: "content-range") == "0-0/*")

      let changed = try await alice.rest(
        .PATCH, "adventure_plans?id=eq.\(id)", #"{"title": "Updated Adventure", "status": "active"}"#)
      #expect(changed.status == 200)
      #expect(changed.list.first?.text("title") == "Updated Adventure")
      #expect(changed.list.first?.text("status") == "active")

      #expect(try await alice.rest(.DELETE, "adventure_plans?id=eq.\(id)").status == 204)
      #expect(try await alice.rows("adventure_plans?user_id=eq.\(alice.id)").isEmpty)
    }
  }

  @Test(arguments: engines) func placesAreSavedReadAndDeleted(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let place = try await alice.insert(
        "saved_places",
        """
        {
          "name": "Favorite Coffee Shop",
          "address": "123 Main St, San Francisco, CA",
          "latitude": 37.7749,
          "longitude": -122.4194,
          "category": "coffee"
        }
        """)
      #expect(place.text("place_type") == "coffee")
      let read = try await alice.rows("saved_places?user_id=eq.\(alice.id)")
      #expect(read.map { $0.text("id") } == [place.text("id")])
      #expect(try await alice.rest(.DELETE, "saved_places?id=eq.\(place.text("id"))").status == 204)
      #expect(try await alice.rows("saved_places?user_id=eq.\(alice.id)").isEmpty)
    }
  }

  @Test(arguments: engines) func aHuntIsMadeStartedPlayedAndWon(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.insert(
        "scavenger_hunts",
        """
        {
          "title": "City Scavenger Hunt",
          "description": "Explore the city and find hidden treasures",
          "checkpoints": [
            {
              "title": "Find the Red Door",
              "description": "Look for a red door on Main Street",
              "location": {
                "latitude": 37.7749,
                "longitude": -122.4194
              },
              "photo_required": true,
              "points": 20
            }
          ]
        }
        """)
      let id = hunt.text("id")
      #expect(hunt.int("checkpoint_count") == 1)
      #expect(hunt.int("participant_count") == 0)
      #expect(hunt.int("progress") == 0)

      let path = "scavenger_hunts/\(id)/join"
      #expect(try await bob.rest(.POST, path).contractCode == "HUNT_NOT_FOUND")
      let joined = try await bob.rest(.POST, path, #"{"invite_code": "\#(hunt.text("invite_code"))"}"#)
      #expect(joined.status == 200, "\(joined.text)")
      #expect(joined.int("participant_count") == 1)
      #expect(try await bob.rest(.POST, path).status == 200)

      let started = try await alice.rest(
        .PATCH, "scavenger_hunts?id=eq.\(id)", #"{"status": "active", "start_time": "2024-01-01T10:00:00Z"}"#)
      #expect(started.list.first?.text("start_time") == "2024-01-01T10:00:00Z", "\(started.text)")

      let checkpoint = try #require(try await bob.rows("hunt_checkpoints?hunt_id=eq.\(id)").first)
      let submitted = try await bob.rest(
        .POST, "checkpoint_submissions",
        """
        {
          "checkpoint_id": "\(checkpoint.text("id"))",
          "photo_url": "https://storage.supabase.co/object/public/photos/photo.jpg"
        }
        """)
      #expect(submitted.status == 201, "\(submitted.text)")
      #expect(submitted.list.first?["verified"] as? Bool == false)

      let leader = try #require(try await alice.rows("hunt_leaderboard?hunt_id=eq.\(id)").first)
      #expect(leader.text("id") == "\(bob.id)")
      #expect(leader.text("name") == "bob")
      #expect(leader.int("score") == 20)
      #expect(leader.int("completedCheckpoints") == 1)
      #expect(leader.int("totalCheckpoints") == 1)
      #expect(try await bob.rows("scavenger_hunts?id=eq.\(id)").first?.int("progress") == 1)
    }
  }

  @Test(arguments: engines) func aGroupIsMadeJoinedAndLeftAndHasAHunt(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.insert(
        "social_groups",
        """
        {
          "name": "Weekend Warriors",
          "description": "Adventure group for weekend trips"
        }
        """)
      let (id, code) = (group.text("id"), group.text("invite_code"))
      let refused = try await bob.rest(
        .POST, "social_groups/join",
        """
        {
          "invite_code": "ABC123"
        }
        """)
      #expect(refused.status == 404 && refused.contractCode == "GROUP_NOT_FOUND", "\(refused.text)")
      let joined = try await bob.rest(.POST, "social_groups/join", #"{ "invite_code": "\#(code)" }"#)
      #expect(joined.status == 200 && joined.int("member_count") == 2, "\(joined.text)")
      let members = try await bob.rows("group_members?group_id=eq.\(id)")
      #expect(Set(members.map { $0.text("user_id") }) == ["\(alice.id)", "\(bob.id)"])

      try await stack.forgetGroups(of: alice, bob)
      let hunt = try await alice.insert(
        "scavenger_hunts",
        """
        {
          "title": "City Scavenger Hunt",
          "description": "Explore the city and find hidden treasures",
          "group_id": "\(id)",
          "checkpoints": [
            {
              "title": "Find the Red Door",
              "description": "Look for a red door on Main Street",
              "location": {
                "latitude": 37.7749,
                "longitude": -122.4194
              },
              "photo_required": true,
              "points": 20
            }
          ]
        }
        """)
      #expect(hunt.text("group_id") == id && hunt.int("checkpoint_count") == 1)
      #expect(try await bob.rest(.POST, "scavenger_hunts/\(hunt.text("id"))/join").status == 200)

      let left = try await bob.rest(.DELETE, "group_members?group_id=eq.\(id)&user_id=eq.\(bob.id)")
      #expect(left.status == 204, "\(left.text)")
      #expect(try await alice.rows("group_members?group_id=eq.\(id)").map { $0.text("user_id") } == ["\(alice.id)"])
    }
  }

  /// The rows as the contract's models decode them, with snake case converted, and times without a fraction.
  @Test(arguments: engines) func theModelsOfTheContractAreDecoded(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let route = """
        {"origin": {"latitude": 1, "longitude": 2}, "destination": {"latitude": 3, "longitude": 4}, "distance": 5.2}
        """
      try await alice.insert(
        "saved_places", #"{"name": "Café", "address": "1 Street", "latitude": 1, "longitude": 2, "category": "x"}"#)
      try await alice.insert("adventure_plans", #"{"title": "Trip", "stops": [], "route_data": \#(route)}"#)
      try await alice.insert("social_groups", #"{"name": "Ours"}"#)
      _ = try await alice.makeHunt()
      try await alice.insert(
        "eta_shares", #"{"route_data": \#(route), "recipients": ["\#(alice.id)"], "expires_at": "\#(end)"}"#)
      try await expect(ContractModels.User.self, from: "users", alice)
      try await expect(ContractModels.SavedPlace.self, from: "saved_places", alice)
      try await expect(ContractModels.Adventure.self, from: "adventure_plans", alice)
      try await expect(ContractModels.SocialGroup.self, from: "social_groups", alice)
      try await expect(ContractModels.ScavengerHunt.self, from: "scavenger_hunts", alice)
      try await expect(ContractModels.ETAShare.self, from: "eta_shares", alice)
    }
  }

  private func expect<Model: Decodable>(_ type: Model.Type, from table: String, _ user: SignedInUser) async throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601
    let reply = try await user.rest(.GET, table)
    do {
      let models = try decoder.decode([Model].self, from: reply.body)
      #expect(models.count == 1, "\(table)")
    } catch { Issue.record("\(table): \(error): \(reply.text)") }
  }

  @Test(arguments: engines) func anArrivalTimeIsSharedUntilItsLastSecond(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      var (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, dave) = (try await stack.signIn("carol"), try await stack.signIn("dave"))
      let end = stack.clock.now.addingTimeInterval(3600)
      let share = try await alice.insert(
        "eta_shares",
        """
        {
          "route_data": {
            "origin": {"latitude": 37.7749, "longitude": -122.4194, "address": "123 Main St"},
            "destination": {"latitude": 37.7849, "longitude": -122.4094, "address": "456 Oak St"},
            "distance": 5.2,
            "duration": 1800,
            "transport_mode": "driving",
            "estimated_arrival": "2024-01-01T15:30:00Z"
          },
          "recipients": ["\(bob.id)", "\(dave.id)"],
          "expires_at": "\(end.formatted(.iso8601))"
        }
        """)
      #expect(share["is_active"] as? Bool == true)
      #expect(share["recipients"] as? [String] == ["\(bob.id)", "\(dave.id)"])
      #expect(try await dave.count("eta_shares") == 1)
      let path = "eta_shares?is_active=eq.true"
      #expect(try await bob.rows(path).map { $0.text("id") } == [share.text("id")])
      #expect(try await carol.rows(path).isEmpty)
      #expect(try await alice.rows(path).count == 1)
      stack.clock.advance(by: .seconds(3600))
      (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      #expect(try await bob.rows("eta_shares").isEmpty)
      #expect(try await alice.rows(path).isEmpty)
      #expect(try await alice.rows("eta_shares").first?["is_active"] as? Bool == false)
    }
  }

  @Test(arguments: engines) func healthIsReportedByGetAndByPost(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      for user in [alice, bob] { try await user.insert("saved_places", #"{"name": "Here"}"#) }
      // Counts are one's own.
      try await bob.insert("adventure_plans", #"{"title": "Out"}"#)
      // On a busy machine a service may take longer to answer than it is waited for.
      try await eventually("health") { try await alice.rest(.GET, "rpc/health_check").string("status") == "healthy" }
      for method in [HTTPMethod.GET, .POST] {
        let health = try await alice.rest(method, "rpc/health_check", method == .POST ? "{}" : nil)
        #expect(health.string("status") == "healthy", "\(health.text)")
        #expect((health["services"] as? [String: Any])?.text("database") == "healthy")
        let detailed = try await alice.rest(method, "rpc/health_check_detailed", method == .POST ? "{}" : nil)
        #expect((detailed["table_counts"] as? [String: Any])?.int("saved_places") == 1)
        #expect((detailed["tableCounts"] as? [String: Any])?.int("adventure_plans") == 0)
        let metrics = try await alice.rest(method, "rpc/get_system_metrics", method == .POST ? "{}" : nil)
        #expect(metrics.status == 200)
        #expect(metrics["databaseSize"] is NSNull)
      }
      let app = stack.adventures.bearing(alice.access)
      let operators = try await app.with(["X-Admin-Key": TestStack.adminKey]).get("/rest/v1/rpc/get_system_metrics")
      #expect(operators.string("databaseSize").hasSuffix(" kB"), "\(operators.text)")
      let others = try await app.with(["X-Admin-Key": "a guess"]).get("/rest/v1/rpc/get_system_metrics")
      #expect(others.status == 200 && others["databaseSize"] is NSNull, "\(others.text)")
      for name in ["activeConnections", "maxConnections"] {
        // SQLite has none to count.
        #expect((operators.int(name) ?? 0 > 0) == (engine == .postgres), "\(operators.text)")
        #expect(others[name] is NSNull, "\(others.text)")
      }
    }
  }

  private static func isModelTime(_ text: String) -> Bool {
    text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil
  }
}
