import Clients
import Foundation
import Gateway
import Support
import Synchronization
import Testing
import Tokens
import Web

/// Which tokens of external issuers the gateway accepts.
@Suite struct ExternalTokenTests {
  /// The status of a request with this token.
  private func status(_ stack: TestStack, _ token: String) async throws -> Int {
    let reply = try await stack.gateway.bearing(token).get("/api/v1/auth/me")
    if reply.status == 401 { #expect(reply.headers.first(name: "www-authenticate") == "Bearer") }
    return reply.status
  }

  @Test func whatTheIssuerHasSignedForUsIsBelieved() async throws {
    try await withIssuer { issuer in
      try await withStack(.sqlite, ["OIDC_ISSUERS": "\(issuer.name);aud=kith;aud=other"]) { stack in
        let now = stack.clock.now
        let seconds = Int(now.timeIntervalSince1970)
        let first = try await status(stack, issuer.token(at: now))
        #expect(first == 200)
        // The token that has expired comes first, with twenty seconds left of the thirty that are tolerated.
        let late = Int(stack.clock.now.timeIntervalSince1970)
        let right: [[String: (any Sendable)?]] = [
          ["exp": late - 10, "iat": late - 100], ["aud": "other"], ["aud": ["elsewhere", "kith"]],
          ["nbf": seconds + 25],
          ["iat": seconds + 25], ["nbf": seconds - 5], ["email": 7, "name": ["a"], "email_verified": "no"],
          ["sub": String(repeating: "x", count: 255)],
        ]
        for changes in right {
          let token = try issuer.token(at: now, changing: changes)
          #expect(try await status(stack, token) == 200, "\(changes)")
        }
        for head in [["typ": nil], ["typ": "at+jwt"]] as [[String: (any Sendable)?]] {
          #expect(try await status(stack, issuer.token(at: now, head: head)) == 200, "\(head)")
        }
        #expect(issuer.keyFetches == 1 && issuer.discoveries == 1)
      }
    }
  }

  @Test func everythingElseIsRefused() async throws {
    try await withIssuer { issuer in
      try await withStack(.sqlite, ["OIDC_ISSUERS": "\(issuer.name);aud=kith;azp=app"]) { stack in
        let now = stack.clock.now
        let seconds = Int(now.timeIntervalSince1970)
        func token(
          _ changes: [String: (any Sendable)?] = [:], head: [String: (any Sendable)?] = [:]
        ) throws -> String {
          try issuer.token(at: now, changing: ["azp": "app"].merging(changes) { $1 }, head: head)
        }
        let good = try token()
        let goodStatus = try await status(stack, good)
        #expect(goodStatus == 200)
        let wrong: [[String: (any Sendable)?]] = [
          ["iss": issuer.name + "/"], ["iss": "https://evil.example"], ["iss": nil], ["iss": "kith"],
          ["aud": "stranger"],
          ["aud": nil], ["aud": [String]()], ["aud": 7], ["azp": "stranger"], ["azp": nil], ["exp": seconds - 31],
          ["exp": nil], ["exp": "tomorrow"], ["nbf": seconds + 500], ["iat": seconds + 500], ["iat": nil],
          ["iat": seconds + 10, "exp": seconds + 5], ["exp": Int.min], ["iat": Int.max], ["nbf": Int.max], ["sub": nil],
          ["sub": ""], ["sub": String(repeating: "x", count: 256)], ["sub": "a\0b"], ["sub": 7],
        ]
        for changes in wrong { #expect(try await status(stack, token(changes)) == 401, "\(changes)") }
        let heads: [[String: (any Sendable)?]] = [
          ["alg": "none"], ["alg": "HS256"], ["alg": "ES256"], ["alg": "RS512"], ["kid": "unknown"], ["kid": nil],
          ["crit": ["exp"]], ["typ": "dpop+jwt"], ["b64": false],
        ]
        for head in heads { #expect(try await status(stack, token(head: head)) == 401, "\(head)") }
        #expect(try await status(stack, good + "A") == 401)
        #expect(try await status(stack, String(good.dropLast(8)) + "AAAAAAAA") == 401)
        #expect(try await status(stack, token(["padding": String(repeating: "x", count: 4096)])) == 401)
        let late = try await stack.gateway.bearing(token(["exp": seconds - 31])).get("/api/v1/auth/me")
        #expect(late.string("code") == "token_expired")
        // None of these tokens caused another fetch of the keys.
        #expect(issuer.keyFetches == 1)
        #expect(try await status(stack, good) == 200)
      }
    }
  }

  @Test func aTokenWithoutAudienceIsJudgedByItsParty() async throws {
    try await withIssuer { clerk in
      let entry = "\(clerk.name);azp=https://app.example.com;jwks=\(clerk.keysURL)"
      try await withStack(.sqlite, ["OIDC_ISSUERS": entry]) { stack in
        func status(_ changes: [String: (any Sendable)?]) async throws -> Int {
          let session: [String: (any Sendable)?] = ["sid": "sess_2", "fva": [0, -1], "sts": "active", "v": 2]
          let token = try clerk.token(
            "user_2abc", audience: nil, at: stack.clock.now, changing: session.merging(changes) { $1 })
          return try await self.status(stack, token)
        }
        let good = try await status(["azp": "https://app.example.com"])
        #expect(good == 200)
        #expect(try await status(["azp": "https://evil.example.com"]) == 401)
        #expect(try await status([:]) == 401)
        // With a configured key URL there is no discovery.
        #expect(clerk.discoveries == 0)
      }
    }
  }

  @Test func anIssuerThatIsAwayMattersOnlyUntilItsKeysAreKnown() async throws {
    try await withIssuer { issuer in
      try await withStack(.sqlite, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        issuer.setDown()
        let token = try issuer.token(at: stack.clock.now)
        let early = try await stack.gateway.bearing(token).get("/api/v1/auth/me")
        #expect(early.status == 503 && early.headers.first(name: "retry-after") != nil)
        // Other users are not affected.
        #expect(try await stack.signIn("alice").browser.get("/api/v1/auth/me").status == 200)
        issuer.setDown(false)
        try await eventually("a new try") { try await status(stack, token) == 200 }
        issuer.setDown()
        #expect(try await status(stack, issuer.token("user_bob", at: stack.clock.now)) == 200)
      }
    }
  }

  @Test func newKeysAreLookedForOnceAMinuteByOneAtATime() async throws {
    try await withIssuer { server in
      let clock = Mutex(ContinuousClock.now)
      let keys = RemoteJWKS(now: { clock.withLock { $0 } }) { try await TokenVerification.keySet(at: server.keysURL) }
      let issuer = ExternalIssuer(server.name, audiences: ["kith"], authorizedParties: [], keys: keys)
      let now = Date()
      func isAccepted(_ token: String) async throws -> Bool {
        do { return try await issuer.verify(token, at: now).subject == "user_alice" } catch is TokenRejected {
          return false
        }
      }
      let first = try server.token(at: now)
      let together = try await atOnce(50) { _ in try await issuer.verify(first, at: now).subject }
      #expect(together.count == 50 && server.keyFetches == 1)
      try server.rotate(to: "key-2", isRSA: false)
      let second = try server.token(at: now)
      // Within the minute the new key is not fetched, and the old one is still valid.
      #expect(try await isAccepted(second) == false)
      #expect(try await isAccepted(first) && server.keyFetches == 1)
      clock.withLock { $0 += .seconds(60) }
      _ = try await atOnce(50) { _ in try await issuer.verify(second, at: now).subject }
      #expect(server.keyFetches == 2)
      // The withdrawn key is no longer valid.
      #expect(try await isAccepted(first) == false)
      // While the issuer is unavailable, the last fetched keys stay in use, even an hour later.
      server.setDown()
      clock.withLock { $0 += .seconds(3700) }
      #expect(try await isAccepted(second))
      #expect(server.keyFetches == 3)
    }
  }

  @Test(arguments: [("issuer", "http://127.0.0.1:1"), ("jwks_uri", "http://keys.example/keys"), ("jwks_uri", "no")])
  func aDocumentThatIsNotTheIssuersIsNotFollowed(member: String, lie: String) async throws {
    try await withIssuer { issuer in
      issuer.discover(member, as: lie)
      try await withStack(.sqlite, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        let refused = try await status(stack, issuer.token(at: stack.clock.now))
        #expect(refused == 503)
        #expect(issuer.discoveries == 1 && issuer.keyFetches == 0)
      }
    }
  }

  @Test func withoutThatSettingNobodyOutsideIsBelieved() async throws {
    try await withIssuer { issuer in
      try await withStack(.sqlite) { stack in
        let refused = try await status(stack, issuer.token(at: stack.clock.now))
        #expect(refused == 401)
        #expect(issuer.keyFetches == 0)
      }
    }
  }

  @Test(arguments: [
    "http://issuer.example;aud=kith", "issuer.example;aud=kith", "https://issuer.example", ";aud=kith",
    "https://issuer.example;aud=", "https://issuer.example;audience=kith", "https://issuer.example;aud=kith;jwks=x",
    "https://issuer.example;aud=kith;jwks=http://issuer.example/keys", "https://appleid.apple.com;aud=kith",
    "https://issuer.example;aud=kith,https://issuer.example;aud=other", "https://a@issuer.example;aud=kith",
    "https://a.example;aud=x;resolve=shared,https://b.example;aud=x;resolve=shared",
    "https://issuer.example?x;aud=kith",
  ])
  func aBadListStopsTheStartByName(list: String) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let settings = TestStack.settings(testDatabase, appleKeys: "http://127.0.0.1:1")
        .overlaid(["SERVICE_KEY": TestStack.keys["gateway"] ?? "", "OIDC_ISSUERS": list])
      do {
        _ = try buildGateway(Dependencies(settings, logger: quiet))
        Issue.record("started with \(list)")
      } catch let failure as StartFailure {
        #expect(failure.description.contains("OIDC_ISSUERS"))
      }
    }
  }
}
