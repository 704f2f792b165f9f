import Database
import Foundation
import Support
import Testing

/// Mail to addresses of Apple's relay: only while their users want it.
@Suite struct AppleRelayTests {
  private static let relay = "alice@privaterelay.appleid.com"

  private func ask(_ doors: Doors, _ address: String) async throws {
    #expect(try await doors.gateway.post("/auth/v1/otp", ["email": address]).status == 200)
  }

  /// Waits until Apple's word has been heeded.
  private func tell(_ doors: Doors, _ type: String) async throws {
    let notice = try doors.stack.appleNotice(type)
    #expect(try await doors.gateway.post("/webhooks/apple/signin", ["payload": notice]).status == 200)
    try await eventually("the work") { try await doors.count("inbox where outcome is null") == 0 }
  }

  private func signIn(_ doors: Doors) async throws {
    let token = try doors.stack.apple.identityToken(at: doors.stack.clock.now)
    #expect(try await doors.gateway.post("/api/v1/auth/apple", ["identity_token": token]).status == 200)
  }

  @Test(arguments: engines) func whoHasSwitchedItOffGetsNoMail(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      try await signIn(doors)
      try await ask(doors, Self.relay)
      _ = try await doors.letter(to: Self.relay)
      try await tell(doors, "email-disabled")
      // The same answer, whoever writes it however.
      try await ask(doors, Self.relay)
      try await ask(doors, "Alice@PrivateRelay.AppleID.com")
      #expect(try await doors.count("outbox where kind = 'mail'") == 1)
      // Another's address at the same relay, and other addresses, are none of this.
      try await ask(doors, "bob@privaterelay.appleid.com")
      _ = try await doors.letter(to: "bob@privaterelay.appleid.com")
      try await ask(doors, "alice@example.com")
      _ = try await doors.letter(to: "alice@example.com")
      try await tell(doors, "email-enabled")
      try await ask(doors, Self.relay)
      _ = try await doors.letter(to: Self.relay, after: 1)
      #expect(doors.letters(to: Self.relay) == 2)
    }
  }

  @Test(arguments: engines) func aMailThatWaitsHeedsWhatAppleSaysMeanwhile(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      try await signIn(doors)
      doors.mail.next(.says("451 4.3.0 later", to: "RCPT"))
      try await ask(doors, Self.relay)
      try await eventually("a try") { try await doors.count("outbox where tries = 1 and lease is null") == 1 }
      try await tell(doors, "email-disabled")
      doors.stack.clock.advance(by: .seconds(10))
      try await eventually("the end") { try await doors.count("outbox where outcome = 'given_up'") == 1 }
      #expect(doors.letters(to: Self.relay) == 0)
    }
  }
}
