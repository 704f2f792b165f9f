import Auth
import Database
import Foundation
import Support
import Testing
import Wire

/// Which rows the sweep deletes, and which it keeps.
@Suite struct ExpiredRowsSweepTests {
  private func runSweep(_ auth: AuthFixture, _ condition: () async throws -> Bool) async throws {
    // A replica sweeps when it starts.
    let replica = try await buildAuth(auth.stack.dependencies(of: "auth"))
    try await running([replica]) {
      _ = try await replica.port.number
      try await eventually("the sweep", condition)
    }
  }

  @Test(arguments: engines) func sessionsAreDeletedThirtyDaysAfterTheirLastToken(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let stack = auth.stack
      let (phone, tablet) = (try await stack.signIn("alice"), try await stack.signIn("alice"))
      let refreshed = try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": phone.refresh])
      #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": tablet.refresh]).status == 200)
      #expect(try await auth.count("refresh_token") == 3)
      // Bob keeps refreshing: his session is as old and still active.
      var bob = try await stack.signIn("bob").refresh
      for _ in 0..<5 {
        stack.clock.advance(by: .seconds(13 * 86_400))
        let reply = try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": bob])
        #expect(reply.status == 200)
        bob = reply.string("refresh_token")
      }
      #expect(try await auth.count("session") == 3)
      try await runSweep(auth) { try await auth.count("session") == 1 }
      // Refresh tokens that Bob used within sixty days are kept, so that a reuse is detected.
      #expect(try await auth.count("refresh_token") == 5)
      let old = try await stack.gateway.post(
        "/api/v1/auth/refresh", ["refresh_token": refreshed.string("refresh_token")])
      #expect(old.status == 401 && old.string("code") == "invalid_refresh_token")
      #expect(try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": bob]).status == 200)
    }
  }

  @Test(arguments: engines) func knownAddressesAreDeletedAfterHalfAYear(engine: Engine) async throws {
    try await withAuthFixture(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { auth in
      let home = auth.gateway.with(["X-Forwarded-For": "192.0.2.1"])
      let body = ["email": "alice@example.com", "password": "correct horse"]
      #expect(try await home.post("/api/v1/auth/sign_up", body).status == 201)
      auth.stack.clock.advance(by: .seconds(100 * 86_400))
      let work = auth.gateway.with(["X-Forwarded-For": "192.0.2.2"])
      #expect(try await work.post("/api/v1/auth/sign_in", body).status == 200)
      #expect(try await auth.count("known_address") == 2)
      auth.stack.clock.advance(by: .seconds(81 * 86_400))
      try await runSweep(auth) { try await auth.count("known_address") == 1 }
    }
  }

  @Test(arguments: engines) func anAddressIsKnownFromTheFirstSessionThatWasOpenedThere(engine: Engine) async throws {
    try await withAuthFixture(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { auth in
      @Sendable func from(_ address: String) -> Browser { auth.gateway.with(["X-Forwarded-For": address]) }
      let body = ["email": "alice@example.com", "password": "correct horse"]
      // She signs up at home and refreshes at work, without entering the password again.
      let pair = try await from("192.0.2.1").post("/api/v1/auth/sign_up", body)
      _ = try await auth.receivedMail(to: "alice@example.com")
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
      // From an unknown address she can still reset the password by mail, which makes the address known.
      let before = auth.mailCount(to: "alice@example.com")
      #expect(try await from("192.0.2.3").post("/api/v1/auth/password", ["email": "alice@example.com"]).status == 200)
      let message = try await auth.receivedMail(to: "alice@example.com", after: before)
      let new = ["email": "alice@example.com", "token": message.code, "password": "a new horse"]
      #expect(try await from("192.0.2.3").send(.PUT, "/api/v1/auth/password", json: new).status == 200)
      let again = body.merging(["password": "a new horse"]) { $1 }
      #expect(try await from("192.0.2.3").post("/api/v1/auth/sign_in", again).status == 200)
    }
  }

  @Test(arguments: engines) func whatWasCountedUnderAnEarlierKeyStillCounts(engine: Engine) async throws {
    try await withAuthFixture(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { auth in
      let body = ["email": "alice@example.com", "password": "correct horse"]
      let home = ["X-Forwarded-For": "192.0.2.1"]
      #expect(try await auth.gateway.with(home).post("/api/v1/auth/sign_up", body).status == 201)
      for _ in 0..<5 { _ = try await auth.gateway.post("/auth/v1/otp", ["email": "bob@example.com"]) }
      let wrong = body.merging(["password": "wrong horse"]) { $1 }
      for round in 0..<5 {
        let tried = try await atOnce(10) { index in
          try await auth.gateway.with(["X-Forwarded-For": "203.0.113.\(round * 10 + index)"])
            .post("/api/v1/auth/sign_in", wrong).status
        }
        #expect(tried.allSatisfy { $0 == 401 })
      }
      let settings = auth.stack.dependencies(of: "auth").settings.overlaid([
        "DATA_KEYS": "newer:another data key 0123456789 abcdefgh,test:data key for tests 0123456789 abcdefghij"
      ])
      let replica = try await buildAuth(auth.stack.dependencies.with(settings))
      try await running([replica]) {
        let browser = Browser("http://127.0.0.1:\(try await replica.port.number)")
        try await eventually("readiness") { try await browser.get("/health/ready").status == 200 }
        #expect(try await browser.post("/auth/v1/otp", ["email": "bob@example.com"]).status == 429)
        for (address, status) in [("192.0.2.9", 429), ("192.0.2.1", 200)] {
          // Only the gateway's X-Forwarded-For is trusted.
          let from = auth.stack.with(key: "gateway").merging(["X-Forwarded-For": address]) { $1 }
          let reply = try await browser.with(from).post("/api/v1/auth/sign_in", body)
          #expect(reply.status == status, "\(address): \(reply.text)")
        }
      }
    }
  }
}
