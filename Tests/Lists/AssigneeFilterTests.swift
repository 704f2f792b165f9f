import Database
import Foundation
import Support
import Testing
import Wire

@testable import Lists

/// The `assigned_to` filter over all lists of a user.
@Suite struct AssigneeFilterTests {
  @Test(arguments: engines) func aNumberIsOneOfThoseInOnesLists(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.makeList()
      try await alice.browser.share(list, with: "bob")
      let task = try await alice.browser.makeTask(list)
      let given = try await alice.browser.post("/api/v1/tasks/\(task)/assign", ["assigned_to": "bob@example.com"])
      #expect(given.status == 200)
      let shown = try await alice.browser.get("/api/v1/lists/\(list)").object("list")
      let number = try #require(shown.objects("members").first?.object("user").int("id"))
      let direct = stack.lists.bearing(alice.access)
      func found(_ name: String) async throws -> [Int] {
        let reply = try await direct.get("/api/v1/tasks?assigned_to=\(name)")
        #expect(reply.status == 200, "\(name)")
        return reply.objects("tasks").compactMap { $0.int("id") }
      }
      for name in ["\(number)", bob.id.description, "bob@example.com"] {
        #expect(try await found(name) == [task], "\(name)")
      }
      for name in ["me", "alice@example.com", "999999", UserID.new(at: Date()).description] {
        #expect(try await found(name).isEmpty, "\(name)")
      }
      // Members of her lists are cached; auth is not called for other numbers.
      let auth = stack.dependencies.serviceAddresses.urls(of: .auth)
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      #expect(try await found("\(number)") == [task])
      #expect(try await found("999999").isEmpty)
      stack.dependencies.serviceAddresses.set(.auth, to: auth)
      // A block hides the user of an address.
      #expect(try await bob.browser.post("/users/\(alice.id)/block").status == 200)
      #expect(try await found("bob@example.com").isEmpty)
    }
  }

  @Test(arguments: engines) func addressesOfOthersAreCounted(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let database = try await stack.testDatabase.open("lists", listsMigrations)
      try await database.write { db in
        try db.change(
          """
          insert into named_people (user_id, day, taken)
          values (\(alice.id), \(LocalDay(stack.clock.now, in: .gmt).name), \(PersonLookupQuota.perDay))
          """)
      }
      await database.close()
      let refused = try await alice.browser.get("/api/v1/tasks?assigned_to=bob@example.com")
      #expect(refused.status == 429 && refused.string("code") == "too_many_people")
      #expect(try await alice.browser.get("/api/v1/tasks?assigned_to=alice@example.com").status == 200)
    }
  }

  @Test(arguments: engines) func whoHasProvenNothingAsksForNoAddress(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let bob = try await stack.signIn("bob")
      let direct = stack.lists.bearing(bob.access)
      let auth = stack.dependencies.serviceAddresses.urls(of: .auth)
      let unproven = UnprovenUsersServer()
      try await running([unproven.server()]) {
        stack.dependencies.serviceAddresses.set(.auth, to: try await unproven.url)
        let refused = try await direct.get("/api/v1/tasks?assigned_to=alice@example.com")
        #expect(refused.status == 403 && refused.string("code") == "not_proven")
        for name in ["me", "1", bob.id.description] {
          #expect(try await direct.get("/api/v1/tasks?assigned_to=\(name)").status == 200, "\(name)")
        }
        stack.dependencies.serviceAddresses.set(.auth, to: auth)
      }
    }
  }
}
