import Database
import Foundation
import Support
import Testing
import Wire

/// Apple's server-to-server notifications about users.
@Suite struct AppleNotificationTests {
  private let path = "/webhooks/apple/signin"

  private func send(_ stack: TestStack, _ payload: String) async throws -> Int {
    try await stack.gateway.post(path, ["payload": payload]).status
  }

  private func signIn(_ stack: TestStack, changing changes: [String: (any Sendable)?] = [:]) async throws
    -> Browser.Reply
  {
    let token = try stack.apple.identityToken(at: stack.clock.now, changing: changes)
    return try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": token])
  }

  private func id(_ reply: Browser.Reply) -> String { (reply["user"] as? [String: Any])?["uuid"] as? String ?? "" }

  /// Waits until all notifications have been processed.
  private func waitUntilProcessed(_ stack: TestStack, _ notifications: Int) async throws {
    try await eventually("the work") {
      try await stack.count("inbox where outcome = 'done'", in: "auth") == notifications
    }
  }

  @Test(arguments: engines) func whoRevokesConsentIsSignedOutAndMaySignInAgain(engine: Engine) async throws {
    try await withAppleServer { apple in
      try await withStack(engine, apple.settings) { stack in
        let now = stack.clock.now
        apple.allow("code", for: try stack.apple.identityToken(at: now))
        let token = try stack.apple.identityToken(at: now)
        let phone = try await stack.gateway.post(
          "/api/v1/auth/apple", ["identity_token": token, "authorization_code": "code"])
        let tablet = try await signIn(stack)
        #expect(try await stack.count("apple_token", in: "auth") == 1)
        let bob = try await stack.signIn("bob")
        #expect(try await send(stack, stack.appleNotification("consent-revoked")) == 200)
        try await eventually("the end of the sessions") {
          try await stack.gateway.bearing(phone.string("access_token")).get("/api/v1/auth/me").status == 401
        }
        for reply in [phone, tablet] {
          let refresh = ["refresh_token": reply.string("refresh_token")]
          #expect(try await stack.gateway.post("/api/v1/auth/refresh", refresh).status == 401)
        }
        #expect(try await stack.count("apple_token", in: "auth") == 0)
        #expect(try await bob.browser.get("/api/v1/auth/me").status == 200)
        stack.clock.advance(by: .seconds(120))
        let back = try await signIn(stack)
        #expect(id(back) == id(phone))
        let list = try await stack.gateway.bearing(back.string("access_token")).get("/api/v1/auth/sessions")
        let reasons = (list["sessions"] as? [[String: Any]])?.map { $0["end_reason"] as? String }
        #expect(reasons?.compactMap { $0 } == ["revoked_by_issuer", "revoked_by_issuer"] && reasons?.count == 3)
        // An older notification that arrives late does not end this session.
        let late = try stack.appleNotification("consent-revoked", at: now)
        #expect(try await send(stack, late) == 200)
        try await waitUntilProcessed(stack, 2)
        #expect(try await stack.gateway.bearing(back.string("access_token")).get("/api/v1/auth/me").status == 200)
      }
    }
  }

  @Test(arguments: engines, ["account-delete", "account-deleted"])
  func whoseOnlyIdentityIsGoneIsDeleted(engine: Engine, type: String) async throws {
    try await withStack(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack in
      let alice = try await signIn(stack)
      #expect(try await send(stack, stack.appleNotification(type)) == 200)
      try await eventually("the erasure") {
        try await stack.count("erasure where finished_at is not null", in: "auth") == 1
      }
      #expect(try await stack.gateway.bearing(alice.string("access_token")).get("/api/v1/auth/me").status == 401)
      #expect(try await stack.count("identity", in: "auth") == 0)
      #expect(try await stack.count("inbox where content is not null", in: "auth") == 0)
      #expect(try await id(signIn(stack)) != id(alice))
    }
  }

  @Test(arguments: engines) func whoHasAnotherIdentityKeepsTheAccount(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withStack(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        // An own address counts as another identity; one of Apple's relay does not.
        let claims: [String: (any Sendable)?] = ["email": "alice@example.com", "email_verified": true]
        let alice = try await signIn(stack, changing: claims.merging(["is_private_email": false]) { $1 })
        let bearer = try issuer.token("alice", at: stack.clock.now, changing: claims)
        #expect(try await stack.gateway.bearing(bearer).get("/api/v1/auth/me").string("id") == id(alice))
        #expect(try await send(stack, stack.appleNotification("account-delete")) == 200)
        try await waitUntilProcessed(stack, 1)
        #expect(try await stack.count("erasure", in: "auth") == 0)
        #expect(try await stack.count("identity where issuer = 'https://appleid.apple.com'", in: "auth") == 0)
        let me = try await stack.gateway.bearing(bearer).get("/api/v1/auth/me")
        #expect(me.string("id") == id(alice) && me.string("email") == "alice@example.com")
      }
    }
  }

  @Test(arguments: engines) func addressesOfTheRelayGoWithIt(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withStack(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        let relay = "alice@privaterelay.appleid.com"
        let alice = try await signIn(stack)
        let bearer = try issuer.token(
          "alice", at: stack.clock.now, changing: ["email": relay, "email_verified": true])
        #expect(try await stack.gateway.bearing(bearer).get("/api/v1/auth/me").string("email") == relay)
        #expect(try await send(stack, stack.appleNotification("account-delete")) == 200)
        try await waitUntilProcessed(stack, 1)
        #expect(try await stack.count("erasure", in: "auth") == 0)
        #expect(try await stack.count("identity where issuer = 'email'", in: "auth") == 0)
        #expect(try await stack.gateway.bearing(bearer).get("/api/v1/auth/me").string("id") == id(alice))
      }
    }
  }

  @Test(arguments: engines) func aPasswordCountsAsAnotherIdentity(engine: Engine) async throws {
    try await withStack(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack in
      func add(_ subject: String, to browser: Browser) async throws -> Int {
        let token = try stack.apple.identityToken(subject: subject, at: stack.clock.now)
        return try await browser.post("/api/v1/auth/identities/apple", ["id_token": token]).status
      }
      func signIn(_ email: String) async throws -> Int {
        let body = ["email": email, "password": "correct horse"]
        return try await stack.gateway.post("/api/v1/auth/sign_in", body).status
      }
      // Alice's own address is only claimed; Bob has set a password for the address of the relay.
      let alice = try await stack.gateway.post(
        "/api/v1/auth/sign_up", ["email": "alice@example.com", "password": "correct horse"])
      #expect(try await add("001234.alice", to: stack.gateway.bearing(alice.string("token"))) == 200)
      let relay = "bob@privaterelay.appleid.com"
      let bob = try await self.signIn(stack, changing: ["sub": "005678.bob", "email": relay])
      let chosen = try await stack.gateway.bearing(bob.string("access_token"))
        .send(.PUT, "/api/v1/users/profile/password", json: ["password": "correct horse"])
      #expect(chosen.status == 200, "\(chosen.text)")
      for subject in ["001234.alice", "005678.bob"] {
        #expect(try await send(stack, stack.appleNotification("account-delete", subject: subject)) == 200)
      }
      try await waitUntilProcessed(stack, 2)
      #expect(try await stack.count("identity where issuer = 'https://appleid.apple.com'", in: "auth") == 0)
      #expect(try await stack.count("erasure", in: "auth") == 0)
      #expect(try await signIn("alice@example.com") == 200)
      #expect(try await signIn(relay) == 200)
    }
  }

  @Test(arguments: engines) func mailThroughTheRelayIsSwitchedOffAndOnInAnyOrder(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let now = stack.clock.now
      _ = try await signIn(stack)
      let off: SQL = "identity where is_email_disabled and issuer = 'https://appleid.apple.com'"
      #expect(try await stack.count(off, in: "auth") == 0)
      #expect(try await send(stack, stack.appleNotification("email-disabled", at: now - 30)) == 200)
      try await eventually { try await stack.count(off, in: "auth") == 1 }
      #expect(try await send(stack, stack.appleNotification("email-enabled", at: now - 10)) == 200)
      try await eventually { try await stack.count(off, in: "auth") == 0 }
      // The older notification arrives later.
      #expect(try await send(stack, stack.appleNotification("email-disabled", at: now - 20)) == 200)
      try await waitUntilProcessed(stack, 3)
      #expect(try await stack.count(off, in: "auth") == 0)
    }
  }

  @Test(arguments: engines) func fiftyOfOneAreWorkedOnOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      _ = try await signIn(stack)
      let notification = try stack.appleNotification("consent-revoked", id: "one")
      let statuses = try await atOnce(50) { _ in try await send(stack, notification) }
      #expect(statuses.allSatisfy { $0 == 200 })
      try await waitUntilProcessed(stack, 1)
      #expect(try await stack.count("inbox", in: "auth") == 1)
      // The same notification again, long after.
      stack.clock.advance(by: .seconds(120))
      let back = try await signIn(stack)
      #expect(try await send(stack, notification) == 200)
      #expect(try await stack.count("inbox", in: "auth") == 1)
      #expect(try await stack.gateway.bearing(back.string("access_token")).get("/api/v1/auth/me").status == 200)
    }
  }

  @Test func whatAppleHasNotSignedForUsChangesNothing() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await signIn(stack)
      let seconds = Int(stack.clock.now.timeIntervalSince1970)
      let wrong: [[String: (any Sendable)?]] = [
        ["iss": "https://evil.example"], ["aud": "com.example.stranger"], ["aud": nil], ["exp": seconds - 1],
        ["iat": seconds + 120], ["iat": seconds - 6 * 86_400, "exp": nil], ["iat": nil], ["jti": nil], ["jti": ""],
        ["events": nil], ["events": "no"], ["events": "{}"], ["events": #"{"type":"consent-revoked","sub":""}"#],
      ]
      for changes in wrong {
        let reply = try await stack.gateway.post(
          path, ["payload": stack.appleNotification("consent-revoked", changing: changes)])
        #expect(reply.status == 400 && reply.string("code") == "invalid_apple_notice", "\(changes)")
      }
      // An identity token is not a notification.
      let token = try stack.apple.identityToken(at: stack.clock.now)
      #expect(try await send(stack, token) == 400)
      #expect(try await send(stack, stack.appleNotification("consent-revoked") + "x") == 400)
      #expect(try await stack.gateway.post(path, ["payload": 7]).status == 400)
      #expect(try await stack.gateway.send(.POST, path, body: Data("payload=x".utf8)).status == 400)
      #expect(try await stack.count("inbox", in: "auth") == 0)
      #expect(try await stack.gateway.bearing(alice.string("access_token")).get("/api/v1/auth/me").status == 200)
      // An unsupported type is accepted and ignored, and so is an unknown subject.
      #expect(try await send(stack, stack.appleNotification("account-transferred")) == 200)
      #expect(try await send(stack, stack.appleNotification("consent-revoked", subject: "nobody")) == 200)
      try await waitUntilProcessed(stack, 1)
    }
    try await withStack(.sqlite) { stack in
      let notification = try stack.appleNotification("consent-revoked")
      stack.apple.setDown()
      // Apple sends it again.
      #expect(try await send(stack, notification) == 503)
    }
  }
}
