import Database
import Foundation
import Support
import Testing
import Wire

/// Refreshing, reused tokens, retries, signing out.
@Suite struct SessionTests {
  private func refresh(_ stack: TestStack, _ token: String, key: String? = nil) async throws -> Browser.Reply {
    var browser = stack.gateway
    if let key { browser = browser.with(["Idempotency-Key": key]) }
    return try await browser.post("/api/v1/auth/refresh", ["refresh_token": token])
  }

  private func isSignedIn(_ stack: TestStack, _ access: String) async throws -> Bool {
    try await stack.gateway.bearing(access).get("/api/v1/auth/me").status == 200
  }

  @Test(arguments: engines) func refreshingGivesANewPairAndTheOldTokenIsWorthless(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let reply = try await refresh(stack, alice.refresh)
      #expect(reply.status == 200)
      #expect(reply.string("refresh_token") != alice.refresh)
      #expect(reply.int("expires_in") == 900)
      #expect(try await isSignedIn(stack, reply.string("access_token")))
      #expect(try await refresh(stack, alice.refresh).status == 401)
      #expect(try await refresh(stack, "never heard of it").status == 401)
    }
  }

  @Test(arguments: engines) func reuseEndsEverySessionOfTheUserAndOfNobodyElse(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (phone, tablet, bob) = (
        try await stack.signIn("alice"), try await stack.signIn("alice"), try await stack.signIn("bob")
      )
      #expect(phone.id == tablet.id)
      let next = try await refresh(stack, phone.refresh)
      let reuse = try await refresh(stack, phone.refresh)
      #expect(reuse.status == 401)
      #expect(reuse.string("code") == "refresh_token_reused")
      // The header that the gateway reads is not forwarded.
      #expect(!reuse.headers.contains(name: Header.endedSessions))
      for access in [phone.access, tablet.access, next.string("access_token")] {
        #expect(try await !isSignedIn(stack, access))
      }
      for token in [next.string("refresh_token"), tablet.refresh] {
        #expect(try await refresh(stack, token).status == 401)
      }
      #expect(try await isSignedIn(stack, bob.access))
      #expect(try await refresh(stack, bob.refresh).status == 200)
      let again = try await stack.signIn("alice")
      #expect(again.id == phone.id)
    }
  }

  @Test(arguments: engines) func fiftyAtOnceWithoutAKeyLeaveOneAnswerAndNoSession(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let other = try await stack.signIn("alice")
      let replies = try await atOnce(50) { _ in
        try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": alice.refresh])
      }
      #expect(replies.count { $0.status == 200 } == 1)
      #expect(replies.count { $0.status == 401 } == 49)
      let winner = try #require(replies.first { $0.status == 200 })
      #expect(try await refresh(stack, winner.string("refresh_token")).status == 401)
      #expect(try await refresh(stack, other.refresh).status == 401)
      #expect(try await !isSignedIn(stack, winner.string("access_token")))
    }
  }

  @Test(arguments: engines) func fiftyAtOnceWithOneKeyAreOneAnswer(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let browser = stack.gateway.with(["Idempotency-Key": "one try"])
      let replies = try await atOnce(50) { _ in
        try await browser.post("/api/v1/auth/refresh", ["refresh_token": alice.refresh])
      }
      #expect(replies.allSatisfy { $0.status == 200 })
      #expect(Set(replies.map { $0.string("refresh_token") }).count == 1)
      #expect(Set(replies.map { $0.string("access_token") }).count == 1)
      #expect(replies.count { $0.headers.first(name: "idempotency-hit") == "true" } == 49)
      #expect(try await isSignedIn(stack, replies[0].string("access_token")))
      #expect(try await refresh(stack, replies[0].string("refresh_token")).status == 200)
    }
  }

  @Test(arguments: engines) func anEmptyKeyIsNone(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await refresh(stack, alice.refresh, key: "").status == 200)
      #expect(try await refresh(stack, alice.refresh, key: "").string("code") == "refresh_token_reused")
      let long = try await refresh(stack, alice.refresh, key: String(repeating: "k", count: 256))
      #expect(long.status == 422)
    }
  }

  @Test(arguments: engines) func aLostAnswerCanBeFetchedAgainUntilItWasUsed(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let lost = try await refresh(stack, alice.refresh, key: "k1")
      // Hours later the access token has expired: the same refresh token is returned with a new one.
      stack.clock.advance(by: .seconds(3600))
      let found = try await refresh(stack, alice.refresh, key: "k1")
      #expect(found.string("refresh_token") == lost.string("refresh_token"))
      #expect(found.string("access_token") != lost.string("access_token"))
      #expect(try await isSignedIn(stack, found.string("access_token")))
      // Once the successor has been used, the old token counts as stolen, with or without the key.
      let next = try await refresh(stack, found.string("refresh_token"))
      #expect(next.status == 200)
      #expect(try await refresh(stack, alice.refresh, key: "k1").string("code") == "refresh_token_reused")
      #expect(try await refresh(stack, next.string("refresh_token")).status == 401)
    }
  }

  @Test(arguments: engines) func anotherKeyOrAnotherDayIsReuse(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await refresh(stack, alice.refresh, key: "k1")
      #expect(try await refresh(stack, alice.refresh, key: "k2").string("code") == "refresh_token_reused")
      let bob = try await stack.signIn("bob")
      _ = try await refresh(stack, bob.refresh, key: "k1")
      stack.clock.advance(by: .seconds(24 * 3600 + 1))
      #expect(try await refresh(stack, bob.refresh, key: "k1").string("code") == "refresh_token_reused")
    }
  }

  @Test(arguments: engines) func aClockThatIsBehindIsNoGrace(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let first = try await refresh(stack, alice.refresh)
      #expect(first.status == 200)
      stack.clock.advance(by: .seconds(-5))
      #expect(try await refresh(stack, alice.refresh).string("code") == "refresh_token_reused")
    }
  }

  @Test func theParentIsAllowedAgainOnlyWithinTheConfiguredGrace() async throws {
    try await withStack(.sqlite, ["REFRESH_REUSE_GRACE_SECONDS": "10"]) { stack in
      let alice = try await stack.signIn("alice")
      stack.clock.stop()
      let first = try await refresh(stack, alice.refresh)
      let second = try await refresh(stack, alice.refresh)
      #expect(second.status == 200)
      #expect(second.string("refresh_token") == first.string("refresh_token"))
      stack.clock.advance(by: .seconds(11))
      #expect(try await refresh(stack, alice.refresh).status == 401)
    }
  }

  @Test func tokensEndWithTheirTime() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      stack.clock.advance(by: .seconds(901))
      let late = try await alice.browser.get("/api/v1/auth/me")
      #expect(late.status == 401)
      #expect(late.string("code") == "token_expired")
      stack.clock.advance(by: .seconds(30 * 86_400))
      let refused = try await refresh(stack, alice.refresh)
      #expect(refused.status == 401)
      #expect(refused.string("code") == "invalid_refresh_token")
    }
  }

  @Test(arguments: engines) func signingOutIsFinalEverywhere(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let tablet = try await stack.signIn("alice")
      let reply = try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": alice.refresh])
      #expect(reply.status == 200)
      #expect(reply.string("detail") == "Logged out")
      #expect(try await !isSignedIn(stack, alice.access))
      #expect(try await stack.auth.bearing(alice.access).get("/api/v1/auth/me").status == 401)
      #expect(try await refresh(stack, alice.refresh).status == 401)
      #expect(try await isSignedIn(stack, tablet.access))
      // A service that is called directly gets it from auth.
      let signedOut = ContinuousClock.now
      try await eventually("the end of the session") {
        try await stack.credits.bearing(alice.access).get("/api/v1/credits/balance").status == 401
      }
      // Two seconds by design, which are many more on a busy machine; otherwise until the token ends.
      #expect(ContinuousClock.now - signedOut < .seconds(30))
      // The response does not reveal whether the token was valid.
      for token in [alice.refresh, "nonsense"] {
        #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": token]).status == 200)
      }
      #expect(try await stack.gateway.post("/api/v1/auth/logout").status == 422)
    }
  }

  @Test(arguments: engines) func theDatabaseHoldsNoToken(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let next = try await refresh(stack, alice.refresh, key: "k1")
      let database = try await stack.testDatabase.open("auth", [])
      let rows = try await database.read { db in
        try db.rows("select * from refresh_token").map { row in
          String(decoding: try row.optional("sealed_successor", as: [UInt8].self) ?? [], as: UTF8.self)
            + String(decoding: try row.get("hash", as: [UInt8].self), as: UTF8.self)
        }
      }
      await database.close()
      #expect(rows.count == 2)
      for secret in [alice.refresh, next.string("refresh_token"), next.string("access_token")] {
        #expect(!rows.joined().contains(secret))
      }
    }
  }
}
