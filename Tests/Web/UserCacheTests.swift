import Foundation
import Support
import Synchronization
import Testing
import Tokens
import Web
import Wire

/// Cached users are accepted while auth does not answer, until the ended sessions may say otherwise.
@Suite struct UserCacheTests {
  private let clock = TestClock()
  private let ended = EndedSessionList()
  private let alice = UserID.new(at: Date())

  private func cache() -> UserCache<String> { UserCache(ended: ended, now: { [clock] in clock.now }) }

  @Test func whoIsKnownGoesOnHoweverLongAuthIsAway() async throws {
    let users = cache()
    ended.add([], at: clock.now)
    #expect(try await users.user("crm-1") { alice } == alice)
    clock.advance(by: .seconds(86_400))
    for _ in 0..<3 { #expect(try await users.user("crm-1") { throw Failure.unavailable } == alice) }
    await #expect(throws: Failure.unavailable) { try await users.user("crm-2") { throw Failure.unavailable } }
  }

  @Test func whatIsOlderThanWhatHasBeenHeardSinceIsAskedAgain() async throws {
    let users = cache()
    ended.add([], at: clock.now)
    #expect(try await users.user("crm-1") { alice } == alice)
    clock.advance(by: .seconds(601))
    ended.add([], at: clock.now)
    await #expect(throws: Failure.unavailable) { try await users.user("crm-1") { throw Failure.unavailable } }
  }

  @Test func whoHasGoneIsNotRemembered() async throws {
    let users = cache()
    ended.add([], at: clock.now)
    for (name, refusal) in [("crm-1", nil), ("crm-2", Failure.unauthorized)] as [(String, Failure?)] {
      #expect(try await users.user(name) { alice } == alice)
      if let refusal {
        await #expect(throws: refusal) { try await users.user(name) { throw refusal } }
      } else {
        #expect(try await users.user(name) { nil } == nil)
      }
      await #expect(throws: Failure.unavailable) { try await users.user(name) { throw Failure.unavailable } }
    }
    #expect(try await users.user("crm-3") { alice } == alice)
    ended.add([.init(externalTokensOf: alice, at: clock.now)], at: clock.now)
    await #expect(throws: Failure.unavailable) { try await users.user("crm-3") { throw Failure.unavailable } }
  }

  @Test func nobodyWaitsWhileThereIsNoAnswer() async throws {
    let breaker = CircuitBreaker(pause: .zero)
    let isBack = Flag()
    #expect(try await breaker.call(fallback: 1) { 2 } == 2)
    #expect(try await breaker.call(fallback: 1) { throw Failure.unavailable } == 1)
    // From here on a caller that waited for the operation would wait forever.
    try await eventually("the result") {
      let result = try await breaker.call(fallback: 1) {
        try await eventually { isBack.isRaised }
        return 2
      }
      isBack.raise()
      return result == 2
    }
    await #expect(throws: Failure.notFound) { _ = try await breaker.call(fallback: 1) { throw Failure.notFound } }
  }

  @Test func whoComesFromAnOutsideIssuerIsServedWhileAuthIsAway() async throws {
    try await withIssuer { issuer in
      try await withStack(.sqlite, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        // A new token each time, as such tokens live for only a minute.
        func status(_ server: Browser, of name: String) async throws -> Int {
          let token = try issuer.token(name, at: stack.clock.now, changing: ["jti": UUID().uuidString])
          return try await server.bearing(token).get("/api/groups").status
        }
        for server in [stack.gateway, stack.groups] { #expect(try await status(server, of: "user_alice") == 200) }
        stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:\(try freePort())")
        for server in [stack.gateway, stack.groups, stack.gateway, stack.groups] {
          #expect(try await status(server, of: "user_alice") == 200)
          #expect(try await status(server, of: "user_bob") == 503)
        }
      }
    }
  }
}
