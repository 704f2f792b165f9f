import Database
import Foundation
import Support
import Synchronization
import Testing

@testable import KithClient

/// The session of an app, against the real server.
@Suite struct SessionTests {
  private static let refresh = "/api/v1/auth/refresh"

  @Test(arguments: engines) func aHundredCallsWithAnExpiredTokenCauseOneRefresh(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let transport = CountingTransport()
      let client = try await stack.clientWithShortTokens("alice", transport: transport)
      _ = try await client.credits.balance()
      #expect(transport.count(Self.refresh) == 0)

      stack.clock.advance(by: .seconds(20 * 60))
      _ = try await atOnce(100) { _ in try await client.credits.balance() }
      #expect(transport.count(Self.refresh) == 1)
      #expect(transport.count("/api/v1/credits/balance") == 101)
    }
  }

  @Test(arguments: engines) func aHundredRefusedCallsCauseOneRefresh(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let transport = CountingTransport()
      let start = stack.clock.now
      // The clock of the phone stands still, so it does not know that its token has expired.
      let client = try await stack.clientWithShortTokens("alice", now: { start }, transport: transport)
      stack.clock.advance(by: .seconds(20 * 60))
      _ = try await atOnce(100) { _ in try await client.credits.balance() }
      #expect(transport.count(Self.refresh) == 1)
    }
  }

  @Test(arguments: engines) func aSessionGoesOnAfterARestart(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let tokens = MemoryTokenStore()
      let first = try await stack.signedUpClient("alice", tokens: tokens)
      let alice = try await first.auth.account()
      let second = try stack.kithClient(tokens: tokens)
      #expect(try await second.auth.sessions.restore() == .signedIn(userID: alice.id))
      #expect(try await second.auth.account() == alice)

      let stranger = try stack.kithClient()
      #expect(try await stranger.auth.sessions.restore() == .signedOut(.noSession))
      await #expect(throws: KithFailure.signedOut) { try await stranger.auth.account() }
    }
  }

  @Test(arguments: engines) func anAppThatWasKilledDuringARefreshIsNotSignedOut(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let tokens = MemoryTokenStore()
      let first = try await stack.signedUpClient("alice", tokens: tokens)
      let before = try #require(tokens.read())
      await first.auth.sessions.forgetAccess()
      _ = try await first.credits.balance()
      #expect(tokens.read() != before)
      // The answer came, and the app was killed before it was stored.
      tokens.write(before)
      let second = try stack.kithClient(tokens: tokens)
      #expect(try await second.credits.balance().balance == 50)

      // The premise: without the key, it is a reuse, and ends the session.
      tokens.write(StoredSession(refreshToken: before.refreshToken))
      let third = try stack.kithClient(tokens: tokens)
      await #expect(throws: KithFailure.signedOut) { try await third.credits.balance() }
      #expect(await third.auth.sessions.state == .signedOut(.ended))
    }
  }

  @Test(arguments: engines) func theStatesTellOfEverySignInAndSignOut(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let client = try stack.kithClient()
      var states = await client.auth.sessions.states.makeAsyncIterator()
      #expect(await states.next() == .signedOut(.noSession))
      try await client.auth.signUp(email: "alice@example.com", password: "correct horse", name: "Alice")
      let alice = try await client.auth.account()
      #expect(await states.next() == .signedIn(userID: alice.id))
      await client.auth.signOut()
      #expect(await states.next() == .signedOut(.byUser))
      await #expect(throws: KithFailure.signedOut) { try await client.credits.balance() }

      let failure = await #expect(throws: KithFailure.self) {
        try await client.auth.signIn(email: "alice@example.com", password: "wrong horse")
      }
      #expect(failure?.code == .known(.invalidCredentials))
      try await client.auth.signIn(email: "alice@example.com", password: "correct horse")
      #expect(await states.next() == .signedIn(userID: alice.id))
      #expect(try await client.auth.deviceSessions().filter(\.current).count == 1)
      try await client.auth.deleteAccount()
      #expect(await states.next() == .signedOut(.byUser))
    }
  }

  @Test(arguments: engines) func appleSignsInWithTheNonceOfThisAttempt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let client = try stack.kithClient()
      let nonce = AppleNonce()
      let token = try stack.apple.identityToken(nonceHash: nonce.hash, at: stack.clock.now)
      let failure = await #expect(throws: KithFailure.self) {
        try await client.auth.signInWithApple(identityToken: token, nonce: AppleNonce())
      }
      #expect(failure?.code == .known(.invalidAppleToken))
      var name = PersonNameComponents()
      name.givenName = "Alice"
      try await client.auth.signInWithApple(identityToken: token, nonce: nonce, name: name)
      #expect(try await client.auth.profile().name == "Alice")
    }
  }

  @Test(arguments: engines) func aPhoneSignsInWithATextedCode(engine: Engine) async throws {
    try await withStack(engine, ["SMS_TEST_CODES": "+15550001111:424242"]) { stack in
      let client = try stack.kithClient()
      #expect(try await client.auth.requestCode(phoneNumber: "+15550001111").expiresIn == 300)
      let failure = await #expect(throws: KithFailure.self) {
        try await client.auth.signIn(phoneNumber: "+15550001111", code: "000000")
      }
      #expect(failure?.code == .known(.invalidCode))
      let user = try await client.auth.signIn(phoneNumber: "+15550001111", code: "424242", firstName: "Alice")
      #expect(user.firstName == "Alice")
      #expect(try await client.auth.account().id == user.id)
    }
  }

  @Test func anOutsideIssuersTokensAreUsed() async throws {
    try await withStack(engines[0]) { stack in
      // Any token that the server accepts; here one of its own.
      let user = try await stack.signIn("alice")
      let client = try stack.kithClient()
      let asked = Mutex<[Bool]>([])
      await client.auth.signIn { isRejected in
        asked.withLock { $0.append(isRejected) }
        return isRejected ? user.access : "a token that has ended"
      }
      #expect(try await client.credits.balance().balance == 50)
      #expect(asked.withLock { $0 } == [false, true])
    }
  }
}
