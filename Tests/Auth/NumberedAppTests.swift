import Database
import Foundation
import Support
import Testing

/// An app that identifies users by number, from the sign-up to the deletion of the account.
@Suite struct NumberedAppTests {
  private func app(_ stack: TestStack) -> NumberedApp {
    NumberedApp(stack.gateway) { [clock = stack.clock] in clock.now }
  }

  private static let signUpBody: [String: any Sendable] = [
    "user": [
      "email": "alice@example.com", "password": "correct horse", "password_confirmation": "correct horse",
      "name": "Alice Liddell", "timezone": "America/New_York",
    ]
  ]
  private static let credentials: [String: any Sendable] = [
    "user": ["email": "alice@example.com", "password": "correct horse"]
  ]

  @Test(arguments: engines) func itReadsEveryAnswerThatOpensASession(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let app = app(stack)
      let signedUp = try await app.open("/api/v1/auth/sign_up", Self.signUpBody)
      #expect(signedUp.email == "alice@example.com" && signedUp.name == "Alice Liddell")
      #expect(signedUp.role == "client" && signedUp.timezone == "America/New_York" && signedUp.has_password == true)
      #expect(try await app.open("/api/v1/auth/sign_in", Self.credentials) == signedUp)
      #expect(try await app.profile() == signedUp)
      let token = try stack.apple.identityToken(at: stack.clock.now)
      let bob = try await app.open("/api/v1/auth/apple", ["id_token": token, "name": "Bob Hansen"])
      #expect(bob.id != signedUp.id && bob.name == "Bob Hansen" && bob.has_password == false)
      #expect(try await app.profile() == bob)
      // Apple may withhold the address.
      let nameless = try stack.apple.identityToken(
        subject: "005678.carol", at: stack.clock.now,
        changing: ["email": nil, "email_verified": nil, "is_private_email": nil])
      let carol = try await app.open("/api/v1/auth/apple", ["id_token": nameless])
      #expect(carol.email == "" && carol.name == nil)
      #expect(try await app.profile() == carol)
      let forgotten = try await stack.gateway.post(
        "/api/v1/auth/password", ["user": ["email": "alice@example.com"]])
      #expect(forgotten.status == 200)
    }
  }

  @Test(arguments: engines) func itKeepsItsSessionWhenTheTokenHasExpired(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = app(stack)
      try await alice.open("/api/v1/auth/sign_up", Self.signUpBody)
      let bob = app(stack)
      let token = try stack.apple.identityToken(at: stack.clock.now)
      try await bob.open("/api/v1/auth/apple", ["id_token": token, "name": "Bob"])
      for _ in 0..<3 {
        stack.clock.advance(by: .seconds(29 * 86_400))
        #expect(try await bob.profile().name == "Bob")
        // Longer than the lifetime of any of her tokens.
        stack.clock.advance(by: .seconds(86_400 + 60))
        #expect(try await alice.profile().timezone == "America/New_York")
        #expect(try await bob.profile().name == "Bob")
      }
      for app in [alice, bob] {
        let presented = await app.presented
        #expect(presented.count >= 3 && Set(presented).count == presented.count)
      }
    }
  }

  @Test(arguments: engines) func aRefreshThatIsRepeatedHasItsUserToo(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let signedUp = try await stack.gateway.post("/api/v1/auth/sign_up", Self.signUpBody)
      let browser = stack.gateway.with(["Idempotency-Key": "one try"])
      let replies = try await atOnce(10) { _ in
        try await browser.post("/api/v1/auth/refresh", ["refresh_token": signedUp.string("refresh_token")])
      }
      #expect(replies.count { $0.headers.first(name: "idempotency-hit") == "true" } == 9)
      let read = try replies.map { try JSONDecoder().decode(NumberedApp.SignedIn.self, from: $0.body) }
      #expect(Set(read.map(\.token)).count == 1 && read.allSatisfy { $0.user.email == "alice@example.com" })
    }
  }

  @Test(arguments: ["Mars/Olympus", "", "GMT"]) func aTimeZoneIsKeptOrNamed(zone: String) async throws {
    try await withStack(.sqlite) { stack in
      let reply = try await stack.gateway.post(
        "/api/v1/auth/sign_up", ["email": "bob@example.com", "password": "correct horse", "timezone": zone])
      let user = reply["user"] as? [String: Any]
      switch zone {
      case "GMT": #expect(reply.status == 201 && user?["timezone"] as? String == "GMT")
      case "": #expect(reply.status == 201 && user?["timezone"] as? String == "UTC")
      default:
        #expect(reply.status == 422)
        #expect((reply["errors"] as? [[String: Any]])?.first?["field"] as? String == "timezone")
      }
    }
  }

  @Test(arguments: engines) func deletingAnAccountAsksForThePassword(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = app(stack)
      try await alice.open("/api/v1/auth/sign_up", Self.signUpBody)
      for wrong in [[:], ["password": "wrong horse"], ["user": ["password": "wrong horse"]]] as [[String: any Sendable]]
      {
        let refused = try await alice.delete(wrong)
        #expect(refused.status == 422 && refused.string("code") == "invalid_password", "\(refused.text)")
        #expect(try await alice.profile().email == "alice@example.com")
      }
      // The password cannot be found by trying.
      let statuses = try await atOnce(12) { _ in try await alice.delete(["password": "wrong horse"]).status }
      #expect(statuses.contains(429) && Set(statuses).isSubset(of: [422, 429]))
      #expect(try await alice.delete(["password": "correct horse"]).status == 429)
      stack.clock.advance(by: .seconds(901))
      #expect(try await alice.delete(["user": ["password": "correct horse"]]).status == 200)
      await #expect(throws: (any Error).self) { try await alice.profile() }
      // Accounts without a password are deleted without one.
      let bob = app(stack)
      try await bob.open("/api/v1/auth/apple", ["id_token": try stack.apple.identityToken(at: stack.clock.now)])
      #expect(try await bob.delete([:]).status == 200)
    }
  }
}
