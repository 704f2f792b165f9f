import Database
import Foundation
import Support
import Testing
import Wire

/// Users who have not verified an address or number use their own data, and nothing that reaches others.
@Suite struct UnverifiedUserTests {
  @Test(arguments: engines) func whoHasProvenNothingLooksUpTextsAndNamesNobody(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      try await withUnprovenUsers(of: [alice], in: stack) { _ in
        for user in [alice, bob] {
          let isProven = user.id == bob.id
          let group = try await user.group()
          let collection = try await user.collection()
          let none: [[String: String]] = []
          let calls: [(String, [String: any Sendable], Int)] = [
            ("/api/invites/check-users", ["phone_numbers": [number(3)]], 200),
            ("/api/invites/send", ["group_id": group, "phone_numbers": [number(3)], "existing_users": none], 200),
            (
              "/api/invites/send",
              ["group_id": group, "phone_numbers": [String](), "existing_users": [["user_id": user.id.description]]],
              200
            ),
            ("/collections/\(collection)/invites", ["inviteeUserId": "user_\(user.id)"], 201),
            ("/collections/\(collection)/invites", ["inviteeEmail": "carol@example.com"], 201),
            ("/api/groups", ["name": "Another", "member_phone_numbers": [number(4)]], 200),
          ]
          for (path, body, status) in calls {
            let reply = try await user.browser.post(path, body)
            #expect(reply.status == (isProven ? status : 403), "\(path) \(reply.text)")
            if !isProven { #expect(reply.string("code") == "not_proven") }
          }
          // Everybody may use their own data, and create links that they pass on themselves.
          #expect(
            try await user.browser.post("/collections/\(collection)/invites", ["role": "VIEW_ONLY"]).status == 201)
          #expect(try await user.browser.post("/api/groups/\(group)/invites").status == 201)
          let empty = try await user.browser.post(
            "/api/invites/send", ["group_id": group, "phone_numbers": [String](), "existing_users": none])
          #expect(empty.status == 200)
        }
      }
    }
  }

  /// An address or user over its own limit has to wait. When only the total is exceeded, unverified users have to wait,
  /// and all others do not.
  @Test(arguments: engines) func thirtyWhoGuessKeepOutOnlyThoseWhoHaveProvenNothingOrGuessed(
    engine: Engine
  ) async throws {
    try await withTextingStack(engine, ["TRUSTED_PROXIES": "127.0.0.0/8"]) { texting in
      let stack = texting.stack
      let alice = try await stack.signIn("alice")
      let guessers = try await concurrently(30) { try await stack.signIn("guest\($0)") }
      let (bob, carol, dora) = (
        try await stack.signIn("bob"), try await stack.signIn("carol"), try await stack.signIn("dora")
      )
      let emil = try await stack.signIn("emil")
      func redeem(_ code: String, _ user: SignedInUser, from address: Int) async throws -> Browser.Reply {
        try await user.browser.with(["X-Forwarded-For": "203.0.113.\(address)"]).post("/api/invites/redeem/\(code)")
      }
      let group = try await alice.group()
      let codes = try await texting.invite((0..<3).map { number($0) }, to: group, by: alice)
      let statuses = try await atOnce(30) { who in
        try await sequentially(10) { round in
          try await guessers[who].browser.post("/api/invites/redeem/ZZ\(10 + who)\(10 + round)").status
        }
      }.flatMap { $0 }
      #expect(statuses.count == 300 && Set(statuses) == [404, 429])
      // All from one address, where sixty is the limit for all users together.
      #expect(statuses.count { $0 == 404 } == 60)
      for user in [guessers[0], carol] {
        #expect(try await user.browser.post("/api/invites/redeem/\(codes[0])").status == 429)
      }
      #expect(try await redeem("ZZZZZZ", emil, from: 4).status == 404)
      let spent = try await stack.withInvites { database in
        try await database.write { db in
          try db.change("update quota set taken = 300 where name = 'wrong codes of all'")
        }
      }
      #expect(spent == 1)
      try await withUnprovenUsers(of: [bob], in: stack) { _ in
        let unproven = try await redeem(codes[0], bob, from: 1)
        #expect(unproven.status == 429 && unproven.headers.contains(name: "retry-after"))
        #expect(try await redeem(codes[0], emil, from: 4).status == 429)
        #expect(try await redeem(codes[0], carol, from: 2).status == 200)
        // One failed attempt is free, and no more.
        #expect(try await redeem("ZZZZZZ", dora, from: 3).status == 404)
        #expect(try await redeem(codes[1], dora, from: 3).status == 429)
      }
      // While auth does not answer, every user counts as unverified.
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      #expect(try await redeem(codes[1], bob, from: 1).status == 429)
      stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
      stack.clock.advance(by: .seconds(3601))
      let fresh = try await stack.signIn("guest0")
      #expect(try await fresh.browser.post("/api/invites/redeem/\(codes[1])").status == 200)
    }
  }

  /// The same for pages: an address without failed lookups is not locked out by others.
  @Test(arguments: engines) func thoseWhoLookForWhatIsNotThereShutOnlyThemselvesOut(engine: Engine) async throws {
    try await withStack(engine, ["TRUSTED_PROXIES": "127.0.0.0/8"]) { stack in
      let alice = try await stack.signIn("alice")
      let made = try await alice.browser.post("/api/groups/\(try await alice.group())/invites")
      func lookUp(_ address: Int, _ code: String) async throws -> Int {
        try await stack.gateway.with(["X-Forwarded-For": "203.0.113.\(address)"]).get("/i/\(code)").status
      }
      let database = try await stack.testDatabase.open("invites", [])
      #expect(try await lookUp(1, "ZZZZZZ") == 404)
      let spent = try await database.write { db in
        try db.change("update quota set taken = 3000 where name = 'wrong looks of all'")
      }
      #expect(spent == 1)
      await database.close()
      #expect(try await lookUp(1, made.string("code")) == 429)
      #expect(try await lookUp(2, made.string("code")) == 200)
    }
  }

  /// One client may have 65,536 IPv6 /64 networks, each with its free first lookup: they are counted together.
  @Test(arguments: engines) func noFirstLookIsFreeOfWhatItsNeighboursHaveLookedFor(engine: Engine) async throws {
    try await withStack(engine, ["TRUSTED_PROXIES": "127.0.0.0/8"]) { stack in
      @Sendable func lookUp(_ address: String) async throws -> Int {
        try await stack.gateway.with(["X-Forwarded-For": address]).get("/i/ZZZZZZ").status
      }
      for (network, other) in [("2001:db8:7:%::1", "2001:db8:8:1::1"), ("203.0.113.%", "203.0.112.1")] {
        let statuses = try await atOnce(130) { index in
          try await lookUp(network.replacingOccurrences(of: "%", with: "\(index + 1)"))
        }
        #expect(statuses.count { $0 == 404 } == 120 && statuses.count { $0 == 429 } == 10, "\(network)")
        #expect(try await lookUp(other) == 404)
      }
    }
  }
}

/// Runs `body` `count` times, one after the other.
private func sequentially<T>(_ count: Int, _ body: (Int) async throws -> T) async throws -> [T] {
  var results: [T] = []
  for index in 0..<count { results.append(try await body(index)) }
  return results
}
