import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Who comes in by a phone number, and who has nothing to do with whom.
@Suite struct AcquaintanceTests {
  @Test(arguments: engines) func whoIsKnownByANumberIsInFromTheStart(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("Alice"), try await stack.signIn("Bob"))
      try await stack.give("+4740000001", to: bob)
      try await stack.give("+4740000002", to: alice)
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
      for index in 10..<22 { try await stack.give("+47400000\(index)", to: try await stack.signIn("guest\(index)")) }
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

  @Test(arguments: engines) func numbersAreRationed(engine: Engine) async throws {
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

  /// Also when numbers are used up by then, or nobody can say whose they are.
  @Test(arguments: engines) func underItsKeyAGroupOfManyNumbersIsMadeOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      try await stack.give("+4740000010", to: bob)
      func make(_ key: String) async throws -> Browser.Reply {
        try await alice.browser.with(["Idempotency-Key": key]).post(
          "/api/groups", ["name": "Ours", "member_phone_numbers": (10..<70).map { "+47400000\($0)" }])
      }
      let first = try await make("cabin")
      #expect(first.status == 200)
      let again = try await make("cabin")
      #expect(again.status == 200 && again.body == first.body && again.headers.contains(name: "idempotency-hit"))
      #expect(try await make("another").status == 429)
      stack.surroundings.neighbours.moved(.auth, to: "http://127.0.0.1:1")
      let unaided = try await make("cabin")
      #expect(unaided.status == 200 && unaided.body == first.body)
      stack.surroundings.neighbours.moved(.auth, to: stack.auth.base)
      let groups = try await bob.browser.get("/api/groups").list
      #expect(groups.map { $0["id"] as? String } == [first.string("id")])
    }
  }

  @Test(arguments: engines) func whoIsBlockedIsNotAddedNeitherWay(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      try await stack.give("+4740000001", to: alice)
      try await stack.give("+4740000002", to: bob)
      #expect(try await bob.browser.post("/users/user_\(alice.id)/block").bool("success") == true)
      for (adder, number, other) in [(alice, "+4740000002", bob), (bob, "+4740000001", alice)] {
        let made = try await adder.browser.post("/api/groups", ["name": "Ours", "member_phone_numbers": [number]])
        #expect(made.status == 200)
        #expect(try await adder.browser.get("/api/groups").list.first?["member_count"] as? Int == 1)
        let (groups, id) = (
          GroupsClient(in: stack.surroundings(of: "invites")), try #require(GroupID(made.string("id")))
        )
        let invite = JoinByInvite(inviteID: .new(at: Date()), invitedBy: adder.id)
        #expect(try await groups.join(id, other.id, by: invite).outcome == .blocked)
        #expect(
          try await groups.add(.init(users: [other.id], addedBy: adder.id), to: id, idempotencyKey: nil).added == [])
        // Once the block is gone, the same invite lets in.
        _ = try await bob.browser.delete("/api/users/\(alice.id)/block/")
        #expect(try await groups.join(id, other.id, by: invite).outcome == .joined)
        _ = try await bob.browser.post("/api/users/\(alice.id)/block/")
      }
    }
  }

  @Test(arguments: engines) func blockingIsForPeopleThatThereAre(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let blocked = try await atOnce(20) { _ in try await alice.browser.post("/users/\(bob.id)/block/").status }
      #expect(blocked.allSatisfy { $0 == 200 })
      #expect(try await alice.browser.post("/users/\(alice.id)/block").status == 400)
      #expect(try await alice.browser.post("/api/users/\(alice.id)/block").status == 422)
      #expect(try await alice.browser.post("/users/\(UUID())/block").status == 404)
      #expect(try await alice.browser.post("/users/nobody/block").status == 404)
      #expect(try await stack.gateway.post("/users/\(bob.id)/block").status == 401)
      for _ in 0..<2 { #expect(try await alice.browser.delete("/users/\(bob.id)/block").status == 200) }
    }
  }

  @Test(arguments: engines) func aPhotoCountsForItsDayAndIsHiddenFromWhoIsBlocked(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("Alice"), try await stack.signIn("Bob"))
      let id = try await alice.group("Ours")
      let groups = GroupsClient(in: stack.surroundings(of: "invites"))
      _ = try await groups.add(.init(users: [bob.id], addedBy: alice.id), to: id, idempotencyKey: nil)
      let unmarked = try await alice.browser.post("/api/groups/\(id)/mark-sent")
      #expect(unmarked.bool("success") == false && unmarked.string("code") == "no_photo_today")
      #expect(unmarked.string("message").contains("photo"))
      try await stack.photo(of: alice, in: id)
      #expect(try await alice.browser.get("/api/groups/\(id)/daily-status").bool("has_sent_today") == true)
      let marked = try await alice.browser.post("/api/groups/\(id)/mark-sent")
      #expect(marked.bool("success") == true && marked["code"] == nil)
      #expect(try await bob.browser.get("/api/groups/\(id)/daily-status").bool("has_sent_today") == false)
      let seen = try await bob.browser.get("/api/groups").list.first?["last_photo"] as? [String: Any]
      #expect(seen?["sender_id"] as? String == alice.id.description)
      #expect(seen?["sender_name"] as? String == "Alice")

      _ = try await alice.browser.post("/users/\(bob.id)/block")
      #expect(try await bob.browser.get("/api/groups").list.first?["last_photo"] is NSNull)
      #expect(try await alice.browser.get("/api/groups").list.first?["last_photo"] is [String: Any])

      stack.clock.advance(by: .seconds(48 * 3600))
      let later = try await stack.signIn("Alice")
      let group = try await later.browser.get("/api/groups/\(id)")
      #expect(group["last_photo"] is NSNull)
      #expect(group.bool("has_sent_today") == false)
    }
  }
}

extension TestStack {
  /// As if the user had signed in with this number.
  func give(_ number: String, to user: SignedInUser) async throws {
    let (database, now) = (try await place.open("auth", []), clock.now)
    try await database.write { db in
      try db.change(
        """
        insert into identity (issuer, subject, account_id, is_email_verified, is_private_email, created_at)
        values ('phone', \(number), \(user.id), \(false), \(false), \(now))
        """)
    }
    await database.close()
  }

  /// As if the user had just sent a photo to a group whose days are UTC's.
  func photo(of user: SignedInUser, in group: GroupID) async throws {
    let (database, now) = (try await place.open("groups", []), clock.now)
    let day = String(Instant.seconds(now).prefix(10))
    try await database.write { db in
      try db.change(
        """
        insert into photo (id, group_id, sender_id, day, state, created_at, expires_at)
        values (\(GroupID.new(at: now)), \(group), \(user.id), \(day), 'ready', \(now), \(now + 172_800))
        """)
    }
    await database.close()
  }
}
