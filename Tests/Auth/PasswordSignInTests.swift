import Database
import Foundation
import Support
import Testing

/// Sign-up and sign-in with an address and a password, for apps that identify users by number.
@Suite struct PasswordSignInTests {
  private static let wrong = "E-mail address or password is not right."

  @Test(arguments: engines) func whoHasSignedUpSignsInInAllThreeShapes(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let signedUp = try await auth.signUp("alice")
      #expect(signedUp.status == 201)
      let user = try #require(signedUp["user"] as? [String: Any])
      #expect(user["id"] as? Int == 1 && user["email"] as? String == "alice@example.com")
      #expect(user["name"] as? String == "alice" && user["role"] as? String == "client")
      #expect(user["timezone"] as? String == "UTC" && user["has_password"] as? Bool == true)
      let credentials = ["email": " Alice@Example.com ", "password": "correct horse"]
      for body in [credentials, ["user": credentials], ["authentication": credentials]] as [[String: any Sendable]] {
        let reply = try await auth.gateway.post("/api/v1/auth/sign_in", body)
        #expect(reply.status == 200 && reply.string("message") == "Login successful")
        #expect((reply["user"] as? [String: Any])?["id"] as? Int == 1)
        // The app does not refresh: it has one long-lived token.
        #expect(reply.int("expires_in") == 30 * 86_400)
        let me = try await auth.gateway.bearing(reply.string("token")).get("/api/v1/users/profile")
        #expect((me["user"] as? [String: Any])?["email"] as? String == "alice@example.com")
      }
      #expect(try await auth.gateway.post("/login", credentials).status == 200)
    }
  }

  @Test(arguments: engines) func nobodyLearnsWhoHasAnAccount(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      _ = try await auth.signUp("alice")
      _ = try await auth.stack.signIn("bob")  // without a password
      for (email, password) in [
        ("alice@example.com", "wrong horse"), ("nobody@example.com", "correct horse"), ("bob@example.com", "x"),
        ("not an address", "correct horse"), ("alice@example.com", ""),
      ] {
        let reply = try await auth.gateway.post("/api/v1/auth/sign_in", ["email": email, "password": password])
        #expect(reply.status == 401, "\(email)")
        #expect(reply.string("code") == "invalid_credentials" && reply.string("detail") == Self.wrong)
      }
      // Every request did one comparison, whether or not there was a hash to compare with.
      let metrics = try await auth.stack.auth.get("/metrics").text
      #expect(metrics.contains("kith_password_hashes_total{outcome=\"done\"} 6"))
      for email in ["alice@example.com", "nobody@example.com"] {
        let reply = try await auth.gateway.post("/api/v1/auth/password", ["email": email])
        #expect(reply.status == 200 && reply.string("message").hasPrefix("If there is"))
      }
    }
  }

  @Test(arguments: engines) func anAddressIsTakenOnceHoweverManyWantIt(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let statuses = try await atOnce(12) { _ in try await auth.signUp("alice").status }
      #expect(statuses.filter { $0 == 201 }.count == 1)
      #expect(statuses.filter { $0 == 422 }.count == 11)
      let reply = try await auth.signUp("ALICE")
      #expect(reply.status == 422 && reply.string("code") == "email_taken")
      #expect(try await auth.count("password") == 1)
    }
  }

  @Test func whatIsWrongIsNamed() async throws {
    try await withAuthFixture(.sqlite) { auth in
      let path = "/api/v1/auth/sign_up"
      for (body, field) in [
        (["email": "a@b.example", "password": "short"], "password"),
        (["email": "a@b.example", "password": String(repeating: "x", count: 257)], "password"),
        (["email": "nonsense", "password": "correct horse"], "email"), (["password": "correct horse"], "email"),
        (["email": "a@b.example"], "password"),
        (
          ["email": "a@b.example", "password": "correct horse", "password_confirmation": "other"],
          "password_confirmation"
        ),
      ] {
        let reply = try await auth.gateway.post(path, body)
        #expect(reply.status == 422, "\(field)")
        let details = (reply["error"] as? [String: Any])?["details"] as? [String: Any]
        #expect(details?[field] != nil, "\(reply.text)")
      }
      #expect(try await auth.gateway.send(.POST, path, body: Data("{".utf8)).status == 400)
      let large = ["email": "a@b.example", "password": String(repeating: "x", count: 70_000)]
      #expect(try await auth.gateway.post(path, large).status == 413)
    }
  }

  @Test(arguments: engines) func guessingIsStoppedWithoutLockingOutTheOwner(engine: Engine) async throws {
    try await withAuthFixture(engine, ["TRUSTED_PROXIES": "127.0.0.1/32"]) { auth in
      _ = try await auth.signUp("alice")
      @Sendable func signInStatus(_ password: String, from address: String) async throws -> Int {
        try await auth.gateway.with(["X-Forwarded-For": address])
          .post("/api/v1/auth/sign_in", ["email": "alice@example.com", "password": password]).status
      }
      #expect(try await signInStatus("correct horse", from: "192.0.2.1") == 200)
      // One client address: ten tries, counted before they are made.
      let statuses = try await atOnce(16) { _ in try await signInStatus("wrong horse", from: "198.51.100.9") }
      #expect(statuses.filter { $0 == 401 }.count == 10 && statuses.filter { $0 == 429 }.count == 6)
      // Many client addresses: fifty tries in all; then unknown addresses are rejected.
      for place in 0..<8 {
        for _ in 0..<5 { _ = try await signInStatus("wrong horse", from: "203.0.113.\(place)") }
      }
      #expect(try await signInStatus("wrong horse", from: "203.0.113.77") == 429)
      #expect(try await signInStatus("correct horse", from: "203.0.113.78") == 429)
      // The user's own client address is known and not rejected.
      #expect(try await signInStatus("correct horse", from: "192.0.2.1") == 200)
      // When the quota's window is over, unknown addresses are accepted again.
      auth.stack.clock.advance(by: .seconds(3700))
      #expect(try await signInStatus("correct horse", from: "203.0.113.78") == 200)
    }
  }

  @Test(arguments: engines) func aForgottenPasswordIsSetByCodeOrByLinkAndOnce(engine: Engine) async throws {
    try await withAuthFixture(engine, ["AUTH_REDIRECTS": "myapp://signed-in"]) { auth in
      let alice = try await auth.signUp("alice")
      _ = try await auth.receivedMail(to: "alice@example.com")
      for way in ["code", "link"] {
        let before = auth.mailCount(to: "alice@example.com")
        _ = try await auth.gateway.post("/api/v1/auth/password", ["email": "alice@example.com"])
        let message = try await auth.receivedMail(to: "alice@example.com", after: before)
        let token = way == "code" ? message.code : AuthFixture.token(of: message.link)
        let change: [String: any Sendable] = [
          "email": "alice@example.com", "token": token, "password": "a new horse \(way)",
        ]
        let wrong = change.merging(["token": "000000"]) { $1 }
        #expect(try await auth.gateway.send(.PUT, "/api/v1/auth/password", json: wrong).status == 400)
        #expect(try await auth.gateway.send(.PUT, "/api/v1/auth/password", json: change).status == 200)
        #expect(try await auth.gateway.send(.PUT, "/api/v1/auth/password", json: change).status == 400)
        let signIn = ["email": "alice@example.com", "password": "a new horse \(way)"]
        #expect(try await auth.gateway.post("/api/v1/auth/sign_in", signIn).status == 200)
      }
      // All earlier sessions have ended.
      let profile = try await auth.gateway.bearing(alice.string("token")).get("/api/v1/users/profile")
      #expect(profile.status == 401)
    }
  }

  @Test(arguments: engines) func aChangedPasswordEndsTheOtherSessions(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let phone = try await auth.signUp("alice").string("token")
      let credentials = ["email": "alice@example.com", "password": "correct horse"]
      let tablet = try await auth.gateway.post("/api/v1/auth/sign_in", credentials).string("token")
      let here = auth.gateway.bearing(phone)
      let path = "/api/v1/users/profile/password"
      for (current, new, status) in [
        ("wrong horse", "a new horse", 422), ("correct horse", "short", 422), ("correct horse", "a new horse", 200),
      ] {
        let body = ["current_password": current, "password": new, "password_confirmation": new]
        #expect(try await here.send(.PATCH, path, json: body).status == status)
      }
      #expect(try await here.send(.PATCH, path, json: ["password": "another horse"]).status == 422)
      #expect(try await here.get("/profile").status == 200)
      #expect(try await auth.gateway.bearing(tablet).get("/profile").status == 401)
      #expect(try await auth.gateway.post("/api/v1/auth/sign_in", credentials).status == 401)
      #expect(try await here.delete("/api/v1/auth/sign_out").string("message") == "Logout successful")
      #expect(try await here.get("/profile").status == 401)
    }
  }
}
