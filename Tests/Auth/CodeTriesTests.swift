import Database
import Foundation
import Support
import Testing

/// How often a mailed code can be tried: from one place, and in all.
@Suite struct CodeTriesTests {
  private func status(_ doors: Doors, _ code: String, from place: String) async throws -> Int {
    try await doors.gateway.with(["X-Forwarded-For": place])
      .post("/auth/v1/verify", ["type": "email", "email": "alice@example.com", "token": code]).status
  }

  private func asked(_ doors: Doors) async throws -> (right: String, wrong: String) {
    let before = doors.letters(to: "alice@example.com")
    #expect(try await doors.gateway.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 200)
    let code = try await doors.letter(to: "alice@example.com", after: before).code
    return (code, code == "000000" ? "000001" : "000000")
  }

  @Test(arguments: engines) func aStrangersGuessesDoNotUseUpSomebodysCode(engine: Engine) async throws {
    try await withDoors(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { doors in
      let code = try await asked(doors)
      for _ in 0..<10 { #expect(try await status(doors, code.wrong, from: "203.0.113.1") == 403) }
      // From there not even the right one is looked at.
      #expect(try await status(doors, code.right, from: "203.0.113.1") == 403)
      #expect(try await status(doors, code.right, from: "192.0.2.1") == 200)
      // What was right does not count: she comes back as often as she likes.
      for _ in 0..<4 { #expect(try await status(doors, try await asked(doors).right, from: "192.0.2.1") == 200) }
    }
  }

  @Test(arguments: engines) func fromAllPlacesTogetherACodeHasTwentyTries(engine: Engine) async throws {
    try await withDoors(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { doors in
      let code = try await asked(doors)
      for place in 1...4 {
        for _ in 0..<5 { #expect(try await status(doors, code.wrong, from: "203.0.113.\(place)") == 403) }
      }
      #expect(try await status(doors, code.right, from: "192.0.2.1") == 403)
      // A new one has its own.
      #expect(try await status(doors, try await asked(doors).right, from: "192.0.2.1") == 200)
    }
  }

  @Test(arguments: engines) func aCodeToResetAPasswordHasFiveTriesFromOnePlaceToo(engine: Engine) async throws {
    try await withDoors(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { doors in
      _ = try await doors.signUp("alice")
      _ = try await doors.letter(to: "alice@example.com")
      _ = try await doors.gateway.post("/api/v1/auth/password", ["email": "alice@example.com"])
      let code = try await doors.letter(to: "alice@example.com", after: 1).code
      @Sendable func reset(_ code: String, from place: String) async throws -> Int {
        let body = ["email": "alice@example.com", "token": code, "password": "a new horse"]
        return try await doors.gateway.with(["X-Forwarded-For": place])
          .send(.PUT, "/api/v1/auth/password", json: body).status
      }
      let wrong = code == "000000" ? "000001" : "000000"
      for _ in 0..<6 { #expect(try await reset(wrong, from: "203.0.113.1") == 400) }
      #expect(try await reset(code, from: "203.0.113.1") == 400)
      #expect(try await reset(code, from: "192.0.2.1") == 200)
    }
  }
}
