import Auth
import Database
import Foundation
import Support
import Testing
import Wire

/// What is forgotten by itself, and what is not.
@Suite struct SweepTests {
  private func swept(_ doors: Doors, _ isSo: () async throws -> Bool) async throws {
    // A new replica begins with it.
    let replica = try await buildAuth(doors.stack.surroundings(of: "auth"))
    try await running([replica]) {
      _ = try await replica.port.number
      try await eventually("the sweep", isSo)
    }
  }

  @Test(arguments: engines) func sessionsAreForgottenThirtyDaysAfterTheirLastToken(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let stack = doors.stack
      let (phone, tablet) = (try await stack.signIn("alice"), try await stack.signIn("alice"))
      let refreshed = try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": phone.refresh])
      #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": tablet.refresh]).status == 200)
      #expect(try await doors.count("refresh_token") == 3)
      // Bob goes on refreshing: his session is as old, and lives.
      var bob = try await stack.signIn("bob").refresh
      for _ in 0..<5 {
        stack.clock.advance(by: .seconds(13 * 86_400))
        let reply = try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": bob])
        #expect(reply.status == 200)
        bob = reply.string("refresh_token")
      }
      #expect(try await doors.count("session") == 3)
      try await swept(doors) { try await doors.count("session") == 1 }
      // What Bob has used within sixty days is still known, so that a thief is recognised.
      #expect(try await doors.count("refresh_token") == 5)
      let old = try await stack.gateway.post(
        "/api/v1/auth/refresh", ["refresh_token": refreshed.string("refresh_token")])
      #expect(old.status == 401 && old.string("code") == "invalid_refresh_token")
      #expect(try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": bob]).status == 200)
    }
  }

  @Test(arguments: engines) func placesAreForgottenAfterHalfAYear(engine: Engine) async throws {
    try await withDoors(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { doors in
      let home = doors.gateway.with(["X-Forwarded-For": "192.0.2.1"])
      let body = ["email": "alice@example.com", "password": "correct horse"]
      #expect(try await home.post("/api/v1/auth/sign_up", body).status == 201)
      doors.stack.clock.advance(by: .seconds(100 * 86_400))
      let work = doors.gateway.with(["X-Forwarded-For": "192.0.2.2"])
      #expect(try await work.post("/api/v1/auth/sign_in", body).status == 200)
      #expect(try await doors.count("known_address") == 2)
      doors.stack.clock.advance(by: .seconds(81 * 86_400))
      try await swept(doors) { try await doors.count("known_address") == 1 }
    }
  }

  @Test(arguments: engines) func aPlaceIsKnownFromTheFirstSessionThatWasOpenedThere(engine: Engine) async throws {
    try await withDoors(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { doors in
      @Sendable func from(_ address: String) -> Browser { doors.gateway.with(["X-Forwarded-For": address]) }
      let body = ["email": "alice@example.com", "password": "correct horse"]
      // She signs up at home and refreshes at work; neither time with her password again.
      let pair = try await from("192.0.2.1").post("/api/v1/auth/sign_up", body)
      _ = try await doors.letter(to: "alice@example.com")
      let refresh = ["refresh_token": pair.string("refresh_token")]
      #expect(try await from("192.0.2.2").post("/api/v1/auth/refresh", refresh).status == 200)
      let wrong = body.merging(["password": "wrong horse"]) { $1 }
      var statuses: [Int] = []
      for round in 0..<4 {
        statuses += try await atOnce(14) { index in
          try await from("203.0.113.\(round * 14 + index)").post("/api/v1/auth/sign_in", wrong).status
        }
      }
      #expect(statuses.filter { $0 == 401 }.count == 50 && statuses.filter { $0 == 429 }.count == 6)
      for (place, status) in [("192.0.2.1", 200), ("192.0.2.2", 200), ("192.0.2.3", 429)] {
        #expect(try await from(place).post("/api/v1/auth/sign_in", body).status == status, "\(place)")
      }
      // Somewhere new a mail still is a way in, and makes the place hers.
      let before = doors.letters(to: "alice@example.com")
      #expect(try await from("192.0.2.3").post("/api/v1/auth/password", ["email": "alice@example.com"]).status == 200)
      let letter = try await doors.letter(to: "alice@example.com", after: before)
      let new = ["email": "alice@example.com", "token": letter.code, "password": "a new horse"]
      #expect(try await from("192.0.2.3").send(.PUT, "/api/v1/auth/password", json: new).status == 200)
      let again = body.merging(["password": "a new horse"]) { $1 }
      #expect(try await from("192.0.2.3").post("/api/v1/auth/sign_in", again).status == 200)
    }
  }

  @Test(arguments: engines) func whatWasCountedUnderAnEarlierKeyStillCounts(engine: Engine) async throws {
    try await withDoors(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { doors in
      let body = ["email": "alice@example.com", "password": "correct horse"]
      let home = ["X-Forwarded-For": "192.0.2.1"]
      #expect(try await doors.gateway.with(home).post("/api/v1/auth/sign_up", body).status == 201)
      for _ in 0..<5 { _ = try await doors.gateway.post("/auth/v1/otp", ["email": "bob@example.com"]) }
      let wrong = body.merging(["password": "wrong horse"]) { $1 }
      for round in 0..<5 {
        let tried = try await atOnce(10) { index in
          try await doors.gateway.with(["X-Forwarded-For": "203.0.113.\(round * 10 + index)"])
            .post("/api/v1/auth/sign_in", wrong).status
        }
        #expect(tried.allSatisfy { $0 == 401 })
      }
      let settings = doors.stack.surroundings(of: "auth").settings.overlaid([
        "DATA_KEYS": "newer:another data key 0123456789 abcdefgh,test:data key for tests 0123456789 abcdefghij"
      ])
      let replica = try await buildAuth(doors.stack.surroundings.with(settings))
      try await running([replica]) {
        let browser = Browser("http://127.0.0.1:\(try await replica.port.number)")
        try await eventually("readiness") { try await browser.get("/health/ready").status == 200 }
        #expect(try await browser.post("/auth/v1/otp", ["email": "bob@example.com"]).status == 429)
        for (address, status) in [("192.0.2.9", 429), ("192.0.2.1", 200)] {
          // Only the gateway says where a request comes from.
          let from = doors.stack.with(key: "gateway").merging(["X-Forwarded-For": address]) { $1 }
          let reply = try await browser.with(from).post("/api/v1/auth/sign_in", body)
          #expect(reply.status == status, "\(address): \(reply.text)")
        }
      }
    }
  }
}
