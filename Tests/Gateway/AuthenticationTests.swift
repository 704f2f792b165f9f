import Credits
import Crypto
import Foundation
import Support
import Testing
import Tokens
import Web
import Wire

@testable import Gateway

/// Which tokens the gateway accepts.
@Suite struct AuthenticationTests {
  @Test func publicKeysAreFetchedFromAuthAndTheirTokensBelieved() async throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withStack(.sqlite, ["JWT_ALGORITHM": "ES256", "JWT_PRIVATE_KEY": pem]) { stack in
      // This gateway has no key of its own, so it fetches auth's.
      let settings = stack.dependencies(of: "gateway").settings.overlaid(["JWT_PRIVATE_KEY": ""])
      let gateway = try buildGateway(
        Dependencies(settings, serviceAddresses: stack.dependencies.serviceAddresses, logger: quiet))
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

  /// Also tokens that the gateway has verified and cached before.
  @Test func tokensOfAWithdrawnKeyAreRefusedAtOnceEverywhere() async throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withStack(.sqlite, ["JWT_ALGORITHM": "ES256", "JWT_PRIVATE_KEY": pem]) { stack in
      func keyless(_ name: String) -> Dependencies {
        Dependencies(
          stack.dependencies(of: name).settings.overlaid(["JWT_PRIVATE_KEY": ""]),
          serviceAddresses: stack.dependencies.serviceAddresses, logger: quiet)
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
        let auth = try await AuthReplica(
          of: stack.dependencies.with(stack.dependencies.settings.overlaid(["JWT_PRIVATE_KEY": other])))
        // The old replica runs beside the new one, so its key is still valid.
        let both = [stack.auth.base, auth.url]
        stack.dependencies.serviceAddresses.set(.auth, to: both)
        try await Task.sleep(for: .seconds(2))
        for verifier in verifiers {
          #expect(try await verifier.bearing(alice.access).get("/api/v1/credits/balance").status == 200)
        }
        stack.dependencies.serviceAddresses.set(.auth, to: auth.url)
        let movedAt = ContinuousClock.now
        for verifier in verifiers {
          try await eventually("the refusal") {
            try await verifier.bearing(alice.access).get("/api/v1/credits/balance").status == 401
          }
        }
        // Keys are fetched again after a minute and cached tokens live until they expire, so this shows that the
        // withdrawal was noticed earlier.
        #expect(ContinuousClock.now - movedAt < .seconds(40))
        try await auth.stop()
      }
    }
  }

  /// Auth reports ended sessions in its responses. If other services were trusted to do so, a compromised one could
  /// sign out all users.
  @Test func onlyAuthEndsSessions() async throws {
    try await withGateway { gateway in
      let alice = try await gateway.stack.signIn("alice")
      let browser = gateway.browser.bearing(alice.access)
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
      let issuer = AccessTokenSigner(
        KeyRing(.init(signing: SigningKey(secret: "a test secret that is long enough 0123456789"))))
      let statuses = try await atOnce(16) { _ in
        var statuses: Set<Int> = []
        for _ in 0..<1200 {
          let now = stack.clock.now
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

  /// A token that is forgotten is verified again, like one that comes for the first time.
  @Test func ofTheTokensThatTakeTurnsTheLastOnesAreRemembered() {
    let (now, user) = (Date(timeIntervalSince1970: 1_750_000_000), UserID.new(at: .now))
    var cache = TokenCache(keyVersion: 1, generationEntriesMax: 100)
    func isFound(_ number: Int) -> Bool {
      let bytes = Array("token \(1000 + number) with a signature \(1000 + number)".utf8)
      return cache.find(bytes.indices, bytes.span, at: now)?.caller.user == user
    }
    for number in 0..<250 {
      let token = AccessToken(user: user, session: .new(at: now), issuedAt: now, lifetime: .seconds(900))
      _ = cache.insert(token, for: "token \(1000 + number) with a signature \(1000 + number)")
      #expect(isFound(number))
      // One that is used all the time.
      #expect(isFound(0))
    }
    // Two generations at most, and the one in use.
    #expect((1...50).allSatisfy { !isFound($0) })
    #expect((201..<250).allSatisfy { isFound($0) } && isFound(0))
  }
}
