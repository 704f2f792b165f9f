import Database
import Foundation
import Support
import Testing

/// Mail to addresses of Apple's relay is only sent while their users have not disabled it.
@Suite struct AppleRelayTests {
  private static let relay = "alice@privaterelay.appleid.com"

  private func requestCode(_ auth: AuthFixture, _ address: String) async throws {
    #expect(try await auth.gateway.post("/auth/v1/otp", ["email": address]).status == 200)
  }

  /// Waits until the notification has been processed.
  private func notify(_ auth: AuthFixture, _ type: String) async throws {
    let notification = try auth.stack.appleNotification(type)
    #expect(try await auth.gateway.post("/webhooks/apple/signin", ["payload": notification]).status == 200)
    try await eventually("the work") { try await auth.count("inbox where outcome is null") == 0 }
  }

  private func signIn(_ auth: AuthFixture) async throws {
    let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now)
    #expect(try await auth.gateway.post("/api/v1/auth/apple", ["identity_token": token]).status == 200)
  }

  @Test(arguments: engines) func whoHasSwitchedItOffGetsNoMail(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      try await signIn(auth)
      try await requestCode(auth, Self.relay)
      _ = try await auth.receivedMail(to: Self.relay)
      try await notify(auth, "email-disabled")
      // The response is the same, in whatever case the address is written.
      try await requestCode(auth, Self.relay)
      try await requestCode(auth, "Alice@PrivateRelay.AppleID.com")
      #expect(try await auth.count("outbox where kind = 'mail'") == 1)
      // Other addresses, at the same relay and elsewhere, are not affected.
      try await requestCode(auth, "bob@privaterelay.appleid.com")
      _ = try await auth.receivedMail(to: "bob@privaterelay.appleid.com")
      try await requestCode(auth, "alice@example.com")
      _ = try await auth.receivedMail(to: "alice@example.com")
      try await notify(auth, "email-enabled")
      try await requestCode(auth, Self.relay)
      _ = try await auth.receivedMail(to: Self.relay, after: 1)
      #expect(auth.mailCount(to: Self.relay) == 2)
    }
  }

  @Test(arguments: engines) func aMailThatWaitsHeedsWhatAppleSaysMeanwhile(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      try await signIn(auth)
      // The next try does not come before Apple has said so.
      auth.stack.clock.stop()
      auth.mail.next(.replies("451 4.3.0 later", to: "RCPT"))
      try await requestCode(auth, Self.relay)
      try await eventually("a try") { try await auth.count("outbox where tries = 1 and lease is null") == 1 }
      try await notify(auth, "email-disabled")
      auth.stack.clock.advance(by: .seconds(10))
      try await eventually("the end") { try await auth.count("outbox where outcome = 'given_up'") == 1 }
      #expect(auth.mailCount(to: Self.relay) == 0)
    }
  }
}
