import Auth
import Database
import Foundation
import Support
import Testing
import Web

/// The grants of users at Apple: exchanged at the sign-in, revoked when the account is deleted.
@Suite struct AppleGrantTests {
  private func settings(_ apple: AppleServer, _ more: [String: String] = [:]) -> [String: String] {
    apple.settings.merging(["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { $1 }.merging(more) { $1 }
  }

  /// Signs in with a code that Apple has issued, by default.
  private func signIn(
    _ stack: TestStack, _ apple: AppleServer, code: String = "c0de+/=&", app: String = "com.example.kith",
    codeOf holder: String? = "001234.alice", subject: String = "001234.alice"
  ) async throws -> Browser.Reply {
    let now = stack.clock.now
    if let holder {
      apple.allow(code, for: try stack.apple.identityToken(subject: holder, at: now, changing: ["aud": app]))
    }
    let token = try stack.apple.identityToken(subject: subject, at: now, changing: ["aud": app])
    return try await stack.gateway.post(
      "/api/v1/auth/apple", ["identity_token": token, "authorization_code": code])
  }

  private func delete(_ reply: Browser.Reply, _ stack: TestStack) async throws -> Int {
    try await stack.gateway.bearing(reply.string("access_token")).delete("/api/v1/auth/account").status
  }

  @Test(arguments: engines) func theTokenIsKeptSealedAndGivenBackWithTheAccount(engine: Engine) async throws {
    try await withAppleServer { apple in
      try await withStack(engine, settings(apple)) { stack in
        let alice = try await signIn(stack, apple)
        #expect(alice.status == 200)
        let exchange = try #require(apple.calls(to: "/auth/token").first)
        #expect(Set(exchange.form.keys) == ["client_id", "client_secret", "code", "grant_type"])
        #expect(exchange.form["client_id"] == "com.example.kith" && exchange.form["code"] == "c0de+/=&")
        #expect(exchange.form["grant_type"] == "authorization_code")
        #expect(exchange.secret.iss == AppleServer.team && exchange.secret.sub == "com.example.kith")
        #expect(exchange.secret.aud == "https://appleid.apple.com")
        let now = Int(stack.clock.now.timeIntervalSince1970)
        #expect(exchange.secret.iat <= now && exchange.secret.exp > now && exchange.secret.exp < now + 15_777_000)
        #expect(try await stack.count("apple_token", in: "auth") == 1)
        #expect(try await stack.count("apple_token where cast(sealed as text) like '%refresh%'", in: "auth") == 0)
        #expect(apple.calls(to: "/auth/revoke").isEmpty)

        #expect(try await delete(alice, stack) == 200)
        try await eventually("the end") {
          try await stack.count("erasure where finished_at is not null", in: "auth") == 1
        }
        try await eventually("the revocation") { !apple.calls(to: "/auth/revoke").isEmpty }
        let revoked = try #require(apple.calls(to: "/auth/revoke").first)
        #expect(Set(revoked.form.keys) == ["client_id", "client_secret", "token", "token_type_hint"])
        #expect(revoked.form["token"] == "refresh+token/1" && revoked.form["token_type_hint"] == "refresh_token")
        #expect(revoked.form["client_id"] == "com.example.kith" && revoked.secret.sub == "com.example.kith")
        #expect(try await stack.count("apple_token", in: "auth") == 0)
        #expect(try await stack.count("identity", in: "auth") == 0)
      }
    }
  }

  @Test func eachAppHasItsOwnAndTheNewestCounts() async throws {
    try await withAppleServer { apple in
      try await withStack(.sqlite, settings(apple)) { stack in
        let first = try await signIn(stack, apple)
        _ = try await signIn(stack, apple, code: "second")
        _ = try await signIn(stack, apple, code: "third", app: "com.example.other")
        #expect(try await stack.count("apple_token", in: "auth") == 2)
        #expect(try await delete(first, stack) == 200)
        try await eventually("the end") {
          try await stack.count("erasure where finished_at is not null", in: "auth") == 1
        }
        // Both the deletion and the erasure may have revoked it.
        let given = Set(apple.calls(to: "/auth/revoke").map { [$0.form["client_id"], $0.form["token"]] })
        #expect(given == [["com.example.kith", "refresh+token/2"], ["com.example.other", "refresh+token/3"]])
      }
    }
  }

  @Test func anExchangeThatFailsKeepsNobodyOut() async throws {
    try await withAppleServer { apple in
      try await withStack(.sqlite, settings(apple)) { stack in
        let used = try await signIn(stack, apple, codeOf: nil)
        #expect(used.status == 200 && apple.requestCount == 1)
        // Another user's code is not stored.
        #expect(try await signIn(stack, apple, codeOf: "005678.bob").status == 200)
        for behavior in [.answering(500, "<html>"), .answering(200, "{}"), .answering(429, ""), .hanging]
          as [AppleServer.Behavior]
        {
          apple.behavior = behavior
          // Three seconds by design.
          let isSoon = try await isDone(within: .seconds(8)) {
            let asked = apple.requestCount
            let reply = try await signIn(stack, apple)
            #expect(reply.status == 200, "\(behavior)")
            // It is not retried.
            #expect(apple.requestCount == asked + 1)
          }
          #expect(isSoon, "\(behavior)")
        }
        #expect(try await stack.count("apple_token", in: "auth") == 0)
        // Without a code, or with an invalid one, no request is sent.
        apple.behavior = .normal
        let asked = apple.requestCount
        let token = try stack.apple.identityToken(at: stack.clock.now)
        #expect(try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": token]).status == 200)
        #expect(try await signIn(stack, apple, code: "").status == 200)
        #expect(apple.requestCount == asked)
      }
    }
  }

  @Test(arguments: engines) func appleMayBeAwayWhenAnAccountIsErased(engine: Engine) async throws {
    try await withAppleServer { apple in
      try await withStack(engine, settings(apple)) { stack in
        let alice = try await signIn(stack, apple)
        apple.behavior = .answering(503, "")
        #expect(try await delete(alice, stack) == 200)
        try await eventually("tries") { try await stack.count("erasure where tries > 1", in: "auth") == 1 }
        #expect(try await stack.count("erasure where finished_at is null", in: "auth") == 1)
        #expect(try await stack.count("apple_token", in: "auth") == 1)
        // A user who signs in meanwhile gets a new account.
        #expect(try await stack.count("identity", in: "auth") == 0)
        apple.behavior = .answering(400, #"{"error":"invalid_client"}"#)
        stack.clock.advance(by: .seconds(60))
        let asked = apple.requestCount
        try await eventually("another try") { apple.requestCount > asked }
        #expect(try await stack.count("apple_token", in: "auth") == 1)
        apple.behavior = .normal
        stack.clock.advance(by: .seconds(60))
        try await eventually("the end") {
          try await stack.count("erasure where finished_at is not null", in: "auth") == 1
        }
        #expect(try await stack.count("apple_token", in: "auth") == 0)
        #expect(!apple.calls(to: "/auth/revoke").isEmpty)
      }
    }
  }

  @Test(arguments: engines) func appleHearsOfADeletionAtOnceAndTheAccountCanStillComeBack(engine: Engine) async throws {
    try await withAppleServer { apple in
      try await withStack(engine, settings(apple, ["ACCOUNT_ERASE_AFTER_DAYS": "30"])) { stack in
        let alice = try await signIn(stack, apple)
        #expect(try await delete(alice, stack) == 200)
        try await eventually("the revocation") { apple.calls(to: "/auth/revoke").count == 1 }
        #expect(apple.calls(to: "/auth/revoke").first?.form["token"] == "refresh+token/1")
        try await eventually("that it is forgotten") { try await stack.count("apple_token", in: "auth") == 0 }
        #expect(try await stack.count("erasure where begun_at is null", in: "auth") == 1)
        // Apple asks her for consent again, as the grant was revoked. The account is the same, and the new grant stays.
        let back = try await signIn(stack, apple, code: "again")
        #expect(user(back) == user(alice) && user(back) != nil)
        #expect(try await stack.count("erasure", in: "auth") == 0)
        #expect(try await stack.count("apple_token", in: "auth") == 1)
        #expect(apple.calls(to: "/auth/revoke").count == 1)
      }
    }
  }

  /// She signs in again before the revocation: the new grant is not revoked.
  @Test(arguments: engines) func whoComesBackWhileAppleIsAwayKeepsWhatWasGrantedSince(engine: Engine) async throws {
    try await withAppleServer { apple in
      try await withStack(engine, settings(apple, ["ACCOUNT_ERASE_AFTER_DAYS": "30"])) { stack in
        let alice = try await signIn(stack, apple)
        apple.behavior = .answering(503, "")
        let asked = apple.requestCount
        #expect(try await delete(alice, stack) == 200)
        try await eventually("a try") { apple.requestCount > asked }
        apple.behavior = .normal
        stack.clock.advance(by: .seconds(1))
        #expect(user(try await signIn(stack, apple, code: "again")) == user(alice))
        try await eventually("the end", passing: .seconds(20), on: stack.clock) {
          try await stack.count("outbox where lease is not null", in: "auth")
        } _: {
          try await stack.count("outbox where kind = 'apple_unlinked' and outcome = 'done'", in: "auth") == 1
        }
        #expect(try await stack.count("apple_token", in: "auth") == 1)
        #expect(!apple.calls(to: "/auth/revoke").map { $0.form["token"] }.contains("refresh+token/2"))
      }
    }
  }

  private func user(_ reply: Browser.Reply) -> String? { (reply["user"] as? [String: Any])?["uuid"] as? String }

  @Test func aTokenThatIsWorthNothingStandsInNobodysWay() async throws {
    try await withAppleServer { apple in
      try await withStack(.sqlite, settings(apple)) { stack in
        let alice = try await signIn(stack, apple)
        apple.behavior = .answering(400, #"{"error":"invalid_grant"}"#)
        #expect(try await delete(alice, stack) == 200)
        try await eventually("the end") {
          try await stack.count("erasure where finished_at is not null", in: "auth") == 1
        }
        #expect(try await stack.count("apple_token", in: "auth") == 0)
      }
    }
  }

  @Test(arguments: [
    (["APPLE_TEAM_ID": ""], "APPLE_TEAM_ID"), (["APPLE_KEY_ID": ""], "APPLE_KEY_ID"),
    (["APPLE_PRIVATE_KEY": ""], "APPLE_PRIVATE_KEY"), (["APPLE_BUNDLE_ID": ""], "APPLE_BUNDLE_ID"),
    (["APPLE_PRIVATE_KEY": "/nowhere/key.p8"], "APPLE_PRIVATE_KEY"), (["APPLE_TEAM_ID": "a b"], "APPLE_TEAM_ID"),
    (["APPLE_BASE_URL": "http://appleid.apple.com"], "APPLE_BASE_URL"),
  ])
  func halfAConfigurationStopsTheStartByName(changes: [String: String], named: String) async throws {
    try await withAppleServer { apple in
      try await withTestDatabase(.sqlite) { testDatabase in
        let settings = TestStack.settings(testDatabase, appleKeys: apple.url).overlaid(
          apple.settings.merging(changes) { $1 })
        do {
          _ = try await buildAuth(Dependencies(settings, logger: quiet))
          Issue.record("started with \(changes)")
        } catch let failure as StartFailure {
          #expect(failure.description.contains(named))
        }
      }
    }
  }
}
