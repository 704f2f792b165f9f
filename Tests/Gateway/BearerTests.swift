import Credits
import Crypto
import Foundation
import Gateway
import Support
import Testing
import Tokens
import Web
import Wire

/// Whom the gateway believes.
@Suite struct BearerTests {
  @Test func publicKeysAreFetchedFromAuthAndTheirTokensBelieved() async throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withStack(.sqlite, ["JWT_ALGORITHM": "ES256", "JWT_PRIVATE_KEY": pem]) { stack in
      // This gateway has no key of its own: it asks auth.
      let settings = stack.surroundings(of: "gateway").settings.overlaid(["JWT_PRIVATE_KEY": ""])
      let gateway = try buildGateway(
        Surroundings(settings, neighbours: stack.surroundings.neighbours, logger: quiet))
      try await running([gateway]) {
        let browser = Browser("http://127.0.0.1:\(try await gateway.port.number)")
        try await eventually("readiness") { try await browser.get("/health/ready").status == 200 }
        let alice = try await stack.signIn("alice")
        #expect(alice.access.hasPrefix("eyJhbGciOiJFUzI1NiIs"))
        for _ in 0..<3 {
          let me = try await browser.bearing(alice.access).get("/api/v1/auth/me")
          #expect(me.string("id") == alice.id.description)
        }
        #expect(try await browser.bearing(alice.access + "x").get("/api/v1/auth/me").status == 401)
        let published = try await browser.get("/.well-known/jwks.json")
        let keys = try JSONDecoder().decode(JWKS.self, from: published.body)
        #expect(keys.byID.count == 1)
        let logout = try await browser.post("/api/v1/auth/logout", ["refresh_token": alice.refresh])
        #expect(logout.status == 200)
        #expect(try await browser.bearing(alice.access).get("/api/v1/auth/me").status == 401)
      }
    }
  }

  /// Also those that the gateway has found good before.
  @Test func tokensOfAWithdrawnKeyAreRefusedAtOnceEverywhere() async throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withStack(.sqlite, ["JWT_ALGORITHM": "ES256", "JWT_PRIVATE_KEY": pem]) { stack in
      func keyless(_ name: String) -> Surroundings {
        Surroundings(
          stack.surroundings(of: name).settings.overlaid(["JWT_PRIVATE_KEY": ""]),
          neighbours: stack.surroundings.neighbours, logger: quiet)
      }
      let gateway = try buildGateway(keyless("gateway"))
      let credits = try await buildCredits(keyless("credits"))
      try await running([gateway, credits]) {
        let verifiers = [
          Browser("http://127.0.0.1:\(try await gateway.port.number)"),
          Browser("http://127.0.0.1:\(try await credits.port.number)"),
        ]
        for verifier in verifiers {
          try await eventually("readiness") { try await verifier.get("/health/ready").status == 200 }
        }
        let alice = try await stack.signIn("alice")
        for verifier in verifiers {
          #expect(try await verifier.bearing(alice.access).get("/api/v1/credits/balance").status == 200)
        }
        let other = P256.Signing.PrivateKey().pemRepresentation
        let auth = try await Replica(
          of: stack.surroundings.with(stack.surroundings.settings.overlaid(["JWT_PRIVATE_KEY": other])))
        // The old one beside it: its key is still good.
        let both = [stack.auth.base, auth.url]
        stack.surroundings.neighbours.moved(.auth, to: both)
        try await Task.sleep(for: .seconds(2))
        for verifier in verifiers {
          #expect(try await verifier.bearing(alice.access).get("/api/v1/credits/balance").status == 200)
        }
        stack.surroundings.neighbours.moved(.auth, to: auth.url)
        let movedAt = ContinuousClock.now
        for verifier in verifiers {
          try await eventually("the refusal") {
            try await verifier.bearing(alice.access).get("/api/v1/credits/balance").status == 401
          }
        }
        // Without being watched, keys are looked up after a minute, and remembered tokens live as long as they say.
        #expect(ContinuousClock.now - movedAt < .seconds(40))
        try await auth.stop()
      }
    }
  }

  /// Auth says in its answers which sessions have ended. Were others believed, one that has been broken into could sign
  /// everybody out.
  @Test func onlyAuthEndsSessions() async throws {
    try await withPipe { pipe in
      let alice = try await pipe.stack.signIn("alice")
      let browser = pipe.browser.bearing(alice.access)
      let who = try await browser.get("/who")
      let seen = try #require(who["headers"] as? [String: String])
      let session = try #require(seen["x-session-id"])
      let until = Int(Date().timeIntervalSince1970) + 3600
      let ended = try await browser.get("/ended?sessions=\(session)=\(until)")
      #expect(ended.status == 200 && !ended.headers.contains(name: "x-ended-sessions"))
      #expect(try await browser.get("/who").status == 200)
    }
  }

  @Test func aSecretIsNeverPublished() async throws {
    try await withStack(.sqlite) { stack in
      let reply = try await stack.gateway.get("/.well-known/jwks.json")
      #expect(reply.status == 200)
      #expect(reply.text == #"{"keys":[]}"#)
    }
  }

  @Test func aRememberedVerdictEndsWithTheToken() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      for _ in 0..<5 { #expect(try await alice.browser.get("/api/v1/auth/me").status == 200) }
      stack.clock.advance(by: .seconds(901))
      let late = try await alice.browser.get("/api/v1/auth/me")
      #expect(late.string("code") == "token_expired")
    }
  }

  @Test func moreTokensThanAreRememberedAreStillBelieved() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let issuer = Issuer(KeyRing(.init(signing: SigningKey(secret: "a test secret that is long enough 0123456789"))))
      let now = stack.clock.now
      let statuses = try await atOnce(16) { _ in
        var statuses: Set<Int> = []
        for _ in 0..<1200 {
          let token = AccessToken(user: alice.id, session: .new(at: now), issuedAt: now, lifetime: .seconds(900))
          let reply = try await stack.gateway.bearing(try issuer.sign(token)).send(.HEAD, "/api/v1/auth/me")
          statuses.insert(reply.status)
        }
        return statuses
      }
      #expect(statuses.reduce(into: []) { $0.formUnion($1) } == [200])
      #expect(try await alice.browser.get("/api/v1/auth/me").status == 200)
    }
  }
}
