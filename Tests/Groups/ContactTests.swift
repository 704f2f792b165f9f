import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Adding users to a new group by their phone numbers.
@Suite struct ContactTests {
  @Test(arguments: engines) func whoIsKnownByANumberIsInFromTheStart(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("Alice"), try await stack.signIn("Bob"))
      try await stack.addPhoneNumber("+4740000001", to: bob)
      try await stack.addPhoneNumber("+4740000002", to: alice)
      let numbers = ["+4740000001", "+4740000001", "+4740000002", "+4740000099"]
      let made = try await alice.browser.post("/api/groups", ["name": "Ours", "member_phone_numbers": numbers])
      #expect(made.status == 200)
      let members = try await bob.browser.get("/api/groups/\(made.string("id"))")["members"] as? [[String: Any]]
      #expect(members?.map { $0["first_name"] as? String } == ["Alice", "Bob"])
    }
  }

  @Test(arguments: engines) func thirteenWhoAreKnownAreTooManyAndNothingIsMade(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for index in 10..<22 {
        try await stack.addPhoneNumber("+47400000\(index)", to: try await stack.signIn("guest\(index)"))
      }
      func make(_ count: Int) async throws -> Browser.Reply {
        let numbers = (10..<(10 + count)).map { "+47400000\($0)" }
        return try await alice.browser.post("/api/groups", ["name": "Ours", "member_phone_numbers": numbers])
      }
      let refused = try await make(12)
      #expect(refused.status == 400)
      #expect(refused.string("code") == "group_full")
      #expect(try await alice.browser.get("/api/groups").list.isEmpty)
      #expect(try await make(11).status == 200)
      #expect(try await alice.browser.get("/api/groups").list.first?["member_count"] as? Int == 12)
    }
  }

  @Test(arguments: engines) func phoneNumberLookupsAreLimitedPerDay(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let numbers = (0..<10).map { "+474000000\($0)" }
      func make() async throws -> Browser.Reply {
        let made = try await alice.browser.post("/api/groups", ["name": "Ours", "member_phone_numbers": numbers])
        _ = try await alice.browser.delete("/api/groups/\(made.string("id"))")
        return made
      }
      for _ in 0..<10 { #expect(try await make().status == 200) }
      let refused = try await make()
      #expect(refused.status == 429)
      let wait = try #require(refused.headers.first(name: "retry-after").flatMap { Int($0) })
      #expect((1...86_400).contains(wait))
      stack.clock.advance(by: .seconds(wait + 1))
      let again = try await stack.signIn("alice")
      let made = try await again.browser.post("/api/groups", ["name": "Ours", "member_phone_numbers": numbers])
      #expect(made.status == 200)
    }
  }

  /// Also when the quota is used up by then, or the auth service is unreachable.
  @Test(arguments: engines) func underItsKeyAGroupOfManyNumbersIsMadeOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      try await stack.addPhoneNumber("+4740000010", to: bob)
      func make(_ key: String) async throws -> Browser.Reply {
        try await alice.browser.with(["Idempotency-Key": key]).post(
          "/api/groups", ["name": "Ours", "member_phone_numbers": (10..<70).map { "+47400000\($0)" }])
      }
      let first = try await make("cabin")
      #expect(first.status == 200)
      let again = try await make("cabin")
      #expect(again.status == 200 && again.body == first.body && again.headers.contains(name: "idempotency-hit"))
      #expect(try await make("another").status == 429)
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      let unaided = try await make("cabin")
      #expect(unaided.status == 200 && unaided.body == first.body)
      stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
      let groups = try await bob.browser.get("/api/groups").list
      #expect(groups.map { $0["id"] as? String } == [first.string("id")])
    }
  }
}
