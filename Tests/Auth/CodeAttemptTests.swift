import Database
import Foundation
import Support
import Testing

/// How often a mailed code can be tried: from one client address, and in all.
@Suite struct CodeAttemptTests {
  private func status(_ auth: AuthFixture, _ code: String, from clientAddress: String) async throws -> Int {
    try await auth.gateway.with(["X-Forwarded-For": clientAddress])
      .post("/auth/v1/verify", ["type": "email", "email": "alice@example.com", "token": code]).status
  }

  private func requestCode(_ auth: AuthFixture) async throws -> (right: String, wrong: String) {
    let before = auth.mailCount(to: "alice@example.com")
    #expect(try await auth.gateway.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 200)
    let code = try await auth.receivedMail(to: "alice@example.com", after: before).code
    return (code, code == "000000" ? "000001" : "000000")
  }

  @Test(arguments: engines) func aStrangersGuessesDoNotUseUpSomebodysCode(engine: Engine) async throws {
    try await withAuthFixture(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { auth in
      let code = try await requestCode(auth)
      for _ in 0..<10 { #expect(try await status(auth, code.wrong, from: "203.0.113.1") == 403) }
      // From that address not even the right code is checked.
      #expect(try await status(auth, code.right, from: "203.0.113.1") == 403)
      #expect(try await status(auth, code.right, from: "192.0.2.1") == 200)
      // A correct code does not count as a try: she can sign in any number of times.
      for _ in 0..<4 { #expect(try await status(auth, try await requestCode(auth).right, from: "192.0.2.1") == 200) }
    }
  }

  @Test(arguments: engines) func fromAllAddressesTogetherACodeHasTwentyTries(engine: Engine) async throws {
    try await withAuthFixture(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { auth in
      let code = try await requestCode(auth)
      for place in 1...4 {
        for _ in 0..<5 { #expect(try await status(auth, code.wrong, from: "203.0.113.\(place)") == 403) }
      }
      #expect(try await status(auth, code.right, from: "192.0.2.1") == 403)
      // A new code has tries of its own.
      #expect(try await status(auth, try await requestCode(auth).right, from: "192.0.2.1") == 200)
    }
  }

  @Test(arguments: engines) func aCodeToResetAPasswordHasFiveTriesFromOneAddressToo(engine: Engine) async throws {
    try await withAuthFixture(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { auth in
      _ = try await auth.signUp("alice")
      _ = try await auth.receivedMail(to: "alice@example.com")
      _ = try await auth.gateway.post("/api/v1/auth/password", ["email": "alice@example.com"])
      let code = try await auth.receivedMail(to: "alice@example.com", after: 1).code
      @Sendable func reset(_ code: String, from clientAddress: String) async throws -> Int {
        let body = ["email": "alice@example.com", "token": code, "password": "a new horse"]
        return try await auth.gateway.with(["X-Forwarded-For": clientAddress])
          .send(.PUT, "/api/v1/auth/password", json: body).status
      }
      let wrong = code == "000000" ? "000001" : "000000"
      for _ in 0..<6 { #expect(try await reset(wrong, from: "203.0.113.1") == 400) }
      #expect(try await reset(code, from: "203.0.113.1") == 400)
      #expect(try await reset(code, from: "192.0.2.1") == 200)
    }
  }
}
