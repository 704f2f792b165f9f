import Clients
import Database
import Foundation
import Gateway
import Support
import Testing
import Web
import Wire

/// The accounts of users with tokens of external issuers.
@Suite struct ExternalIdentityTests {
  private func user(_ stack: TestStack, _ token: String) async throws -> String {
    let reply = try await stack.gateway.bearing(token).get("/api/v1/auth/me")
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    return reply.string("id")
  }

  @Test(arguments: engines) func fiftyFirstRequestsAtOnceMakeOneUser(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withStack(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        let claims: [String: (any Sendable)?] = ["email": "alice@example.com", "email_verified": true, "name": "Alice"]
        let token = try issuer.token(at: stack.clock.now, changing: claims)
        let replies = try await atOnce(50) { _ in try await stack.gateway.bearing(token).get("/api/v1/auth/me") }
        #expect(replies.allSatisfy { $0.status == 200 })
        #expect(Set(replies.map { $0.string("id") }).count == 1)
        #expect(replies[0].string("email") == "alice@example.com")
        #expect(replies[0].string("display_name") == "Alice")
        #expect(try await stack.count("account", in: "auth") == 1)
        // It opens no session, and there are credits as for any account.
        #expect(try await stack.count("session", in: "auth") == 0)
        #expect(try await stack.gateway.bearing(token).get("/api/v1/credits/balance").int("balance") == 50)
        let later = try issuer.token(at: stack.clock.now + 1, changing: ["name": "Somebody"])
        #expect(try await user(stack, later) == replies[0].string("id"))
      }
    }
  }

  @Test(arguments: engines) func theSameSubjectOfTwoIssuersIsTwoPeople(engine: Engine) async throws {
    try await withIssuer { first in
      try await withIssuer { second in
        let list = "\(first.name);aud=kith, \(second.name);aud=kith"
        try await withStack(engine, ["OIDC_ISSUERS": list]) { stack in
          let alice = try await user(stack, first.token("42", at: stack.clock.now))
          let bob = try await user(stack, second.token("42", at: stack.clock.now))
          #expect(alice != bob)
          #expect(try await user(stack, first.token("42", at: stack.clock.now)) == alice)
          // The keys of one issuer do not sign for the other.
          let posing = try first.token("42", at: stack.clock.now, changing: ["iss": second.name])
          #expect(try await stack.gateway.bearing(posing).get("/api/v1/auth/me").status == 401)
        }
      }
    }
  }

  @Test(arguments: engines) func oneVerifiedAddressOnBothSidesIsOnePerson(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withStack(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        let now = stack.clock.now
        let apple = try stack.apple.identityToken(at: now, changing: ["email": "alice@example.com"])
        let here = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": apple])
        let alice = (here["user"] as? [String: Any])?["uuid"] as? String ?? ""
        func user(_ subject: String, verified: Bool) async throws -> String {
          try await self.user(
            stack,
            issuer.token(subject, at: now, changing: ["email": "Alice@Example.com", "email_verified": verified]))
        }
        let stranger = try await user("a stranger", verified: false)
        #expect(stranger != alice)
        #expect(try await user("alice", verified: true) == alice)
        #expect(try await user("another alice", verified: true) != alice)
        // An identity that exists is not moved.
        #expect(try await user("a stranger", verified: true) == stranger)
      }
    }
  }

  @Test(arguments: engines) func whoVerifiesAnAddressLaterHasIt(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withStack(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        let claimed = try await stack.signIn("alice")
        func user(verified: Bool) async throws -> String {
          let claims: [String: (any Sendable)?] = ["email": "alice@example.com", "email_verified": verified]
          return try await self.user(stack, issuer.token(at: stack.clock.now, changing: claims))
        }
        let externalUser = try await user(verified: false)
        #expect(externalUser != claimed.id.description)
        let users = UsersClient(in: stack.dependencies(of: "lists"))
        #expect(try await users.person(named: "alice@example.com")?.id == claimed.id)
        #expect(try await user(verified: true) == externalUser)
        #expect(try await users.person(named: "alice@example.com")?.id.description == externalUser)
      }
    }
  }

  @Test(arguments: engines) func aDeletedAccountIsClosedToItsBearerUntilItsUserSignsInHere(
    engine: Engine
  ) async throws {
    try await withIssuer { issuer in
      try await withStack(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        let claims: [String: (any Sendable)?] = ["email": "alice@example.com", "email_verified": true]
        let token = try issuer.token(at: stack.clock.now, changing: claims)
        let alice = try await user(stack, token)
        let browser = stack.gateway.bearing(token)
        // Cached by every event loop that may serve it.
        for _ in 0..<20 { #expect(try await browser.get("/api/v1/auth/me").status == 200) }
        #expect(try await browser.delete("/api/v1/auth/account").status == 200)
        let refused = try await browser.get("/api/v1/auth/me")
        #expect(refused.status == 401 && refused.string("code") == "account_deactivated")
        #expect(try await browser.get("/api/v1/credits/balance").status == 401)
        let apple = try stack.apple.identityToken(
          at: stack.clock.now, changing: ["email": "alice@example.com", "email_verified": true])
        #expect(try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": apple]).status == 200)
        #expect(try await user(stack, token) == alice)
      }
    }
  }

  @Test(arguments: engines) func anotherGatewayHearsOfItWithinTwoSeconds(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withStack(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        let other = try buildGateway(stack.dependencies(of: "gateway"))
        try await running([other]) {
          let browser = Browser("http://127.0.0.1:\(try await other.port.number)")
          try await eventually("readiness") { try await browser.get("/health/ready").status == 200 }
          let token = try issuer.token(at: stack.clock.now)
          let mine = browser.bearing(token)
          #expect(try await mine.get("/api/v1/auth/me").status == 200)
          #expect(try await stack.gateway.bearing(token).delete("/api/v1/auth/account").status == 200)
          let deleted = ContinuousClock.now
          try await eventually("the news") { try await mine.get("/api/v1/credits/balance").status == 401 }
          // Two seconds by design, which are many more on a busy machine; else as long as a caller is cached.
          #expect(ContinuousClock.now - deleted < .seconds(30))
        }
      }
    }
  }

  @Test(arguments: engines) func whoWasForgottenBeginsAnew(engine: Engine) async throws {
    try await withIssuer { issuer in
      let settings = ["OIDC_ISSUERS": "\(issuer.name);aud=kith", "ACCOUNT_ERASE_AFTER_DAYS": "0"]
      try await withStack(engine, settings) { stack in
        let token = try issuer.token(at: stack.clock.now)
        let alice = try await user(stack, token)
        #expect(try await stack.gateway.bearing(token).delete("/api/v1/auth/account").status == 200)
        try await eventually("the erasure") {
          try await stack.count("erasure where finished_at is not null", in: "auth") == 1
        }
        #expect(try await user(stack, token) != alice)
      }
    }
  }

  @Test(arguments: engines) func comingAtThatVeryMomentIsOneOrTheOther(engine: Engine) async throws {
    try await withIssuer { issuer in
      let settings = ["OIDC_ISSUERS": "\(issuer.name);aud=kith", "ACCOUNT_ERASE_AFTER_DAYS": "0"]
      try await withStack(engine, settings) { stack in
        for round in 0..<5 {
          let claims: [String: (any Sendable)?] = ["email": "alice\(round)@example.com", "email_verified": true]
          let browser = stack.gateway.bearing(try issuer.token("\(round)", at: stack.clock.now, changing: claims))
          let alice = try await browser.get("/api/v1/auth/me").string("id")
          async let deleted = browser.delete("/api/v1/auth/account").status
          let rivals = try await atOnce(8) { _ in try await browser.get("/api/v1/auth/me").status }
          #expect(try await deleted == 200)
          #expect(rivals.allSatisfy { $0 == 200 || $0 == 401 })
          try await eventually("a new account") {
            let me = try await browser.get("/api/v1/auth/me")
            return me.status == 200 && me.string("id") != alice
          }
        }
        let erased: SQL = "identity i join account a on a.id = i.account_id where a.erased_at is not null"
        #expect(try await stack.count(erased, in: "auth") == 0)
      }
    }
  }

  @Test(arguments: engines) func theirFirstRequestIsCountedAsASignIn(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withStack(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        func counted(_ outcome: String) async throws -> String? {
          let line = "kith_sign_ins_total{way=\"outside\",outcome=\"\(outcome)\"} "
          let lines = try await stack.auth.get("/metrics").text.split(separator: "\n")
          return lines.first { $0.hasPrefix(line) }.map { String($0.dropFirst(line.count)) }
        }
        #expect(try await counted("done") == nil)
        let token = try issuer.token("alice", at: stack.clock.now)
        // Without the gateway's cache auth is called every time, and counts once.
        for _ in 0..<3 { #expect(try await stack.auth.bearing(token).get("/api/v1/auth/me").status == 200) }
        _ = try await atOnce(10) { _ in try await user(stack, issuer.token("bob", at: stack.clock.now)) }
        #expect(try await counted("done") == "2")
        #expect(try await counted("refused") == nil)
        #expect(try await stack.gateway.bearing(token).delete("/api/v1/auth/account").status == 200)
        #expect(try await stack.auth.bearing(token).get("/api/v1/auth/me").status == 401)
        #expect(try await counted("refused") == "1")
        #expect(try await counted("done") == "2")
      }
    }
  }

  @Test func servicesThatStandAloneAcceptTheSame() async throws {
    try await withIssuer { issuer in
      try await withStack(.sqlite, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        let token = try issuer.token(at: stack.clock.now)
        let alice = try await user(stack, token)
        #expect(try await stack.auth.bearing(token).get("/api/v1/auth/me").string("id") == alice)
        #expect(try await stack.credits.bearing(token).get("/api/v1/credits/balance").int("balance") == 50)
        #expect(try await stack.lists.bearing(token).get("/api/v1/lists").status == 200)
        let wrong = try issuer.token(audience: "other", at: stack.clock.now)
        #expect(try await stack.auth.bearing(wrong).get("/api/v1/auth/me").status == 401)
        #expect(try await stack.credits.bearing(wrong).get("/api/v1/credits/balance").status == 401)
        #expect(try await stack.lists.bearing(wrong).get("/api/v1/lists").status == 401)
        #expect(try await stack.gateway.bearing(token).delete("/api/v1/auth/account").status == 200)
        #expect(try await stack.auth.bearing(token).get("/api/v1/auth/me").status == 401)
        #expect(try await stack.credits.bearing(token).get("/api/v1/credits/balance").status == 401)
        #expect(try await stack.lists.bearing(token).get("/api/v1/lists").status == 401)
      }
    }
  }

  @Test func oneIssuerMayShareItsPeopleWithAnOutsideSystem() async throws {
    try await withIssuer { issuer in
      try await withIssuer { other in
        let list = "\(issuer.name);aud=kith;resolve=shared,\(other.name);aud=kith"
        try await withStack(.sqlite, ["OIDC_ISSUERS": list]) { stack in
          let system = stack.gateway.with(stack.with(key: "plain"))
          let alice = try await system.post("/api/v1/users/resolve", ["external_id": "auth0|1"]).string("user_id")
          #expect(try await user(stack, issuer.token("auth0|1", at: stack.clock.now)) == alice)
          #expect(try await user(stack, other.token("auth0|1", at: stack.clock.now)) != alice)
        }
      }
    }
  }

  @Test func identifyingIsForOurServicesOnly() async throws {
    try await withStack(.sqlite) { stack in
      let path = "/internal/users/identified"
      let alice: [String: any Sendable] = [
        "issuer": "https://a.example", "subject": "1", "email_verified": false,
        "is_external": false,
      ]
      func status(_ key: String?, _ changes: [String: any Sendable] = [:]) async throws -> Int {
        try await stack.auth.with(key.map { stack.with(key: $0) } ?? [:])
          .post(path, alice.merging(changes) { $1 }).status
      }
      let gateway = try await status("gateway")
      #expect(gateway == 200)
      #expect(try await status(nil) == 403)
      #expect(try await status("plain") == 403)
      // The other issuers have reserved names.
      for reserved in ["email", "phone", "external", "developer", ""] {
        #expect(try await status("gateway", ["issuer": reserved]) == 422)
      }
      for wrong in ["", String(repeating: "x", count: 256), "a\0b"] {
        #expect(try await status("gateway", ["subject": wrong]) == 422)
      }
      #expect(try await status("gateway", ["email": "no", "display_name": String(repeating: "x", count: 300)]) == 200)
    }
  }
}
