import Database
import Foundation
import Support
import Testing
import Wire

/// The reasons that users are told of when their sessions end without their having signed out.
@Suite struct SessionEndEventTests {
  /// The id of the session of a user's bearer.
  private func session(of user: SignedInUser) async throws -> String {
    let listed = try await user.browser.get("/api/v1/auth/sessions")["sessions"] as? [[String: Any]]
    let own = try #require(listed?.first { $0["current"] as? Bool == true })
    return try #require(own["id"] as? String)
  }

  /// Expects that a user was told of the end of each of these sessions, once and for this reason, and of no other.
  private func expectEnds(
    of sessions: [String], _ reason: String, toldTo user: UserID, _ stack: TestStack, _ receiver: EventsReceiver,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    func told() -> [FeedEvent] { receiver.events.filter { $0.name == "session_ended" } }
    try await eventually("the ends of \(sessions)") { told().count >= sessions.count }
    try await eventually("the delivery") { try await stack.count("event_outbox", in: "auth") == 0 }
    let expected = sessions.map { JSONValue.object(["session_id": .string($0), "reason": .string(reason)]) }
    #expect(told().count == sessions.count, sourceLocation: sourceLocation)
    #expect(Set(told().map(\.payload)) == Set(expected), sourceLocation: sourceLocation)
    #expect(told().allSatisfy { $0.topics == ["users:\(user)"] }, sourceLocation: sourceLocation)
  }

  @Test(arguments: engines) func whoRevokesConsentAtAppleIsToldOfEachSession(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let then = stack.clock.now
      func signIn() async throws -> SignedInUser {
        let token = try stack.apple.identityToken(at: stack.clock.now)
        let reply = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": token])
        return try await SignedInUser(reply, through: stack.gateway)
      }
      var processed = 0
      func revoke(_ subject: String = "001234.alice", at time: Date? = nil) async throws {
        let notification = try stack.appleNotification("consent-revoked", subject: subject, at: time)
        #expect(try await stack.gateway.post("/webhooks/apple/signin", ["payload": notification]).status == 200)
        processed += 1
        try await eventually("the work") {
          try await stack.count("inbox where outcome = 'done'", in: "auth") == processed
        }
      }
      let (phone, tablet) = (try await signIn(), try await signIn())
      let sessions = [try await session(of: phone), try await session(of: tablet)]
      // Nobody has signed in as this one.
      try await revoke("nobody")
      try await revoke()
      try await expectEnds(of: sessions, "revoked_by_issuer", toldTo: phone.id, stack, receiver)
      // A later session is not ended by an older notification that arrives late.
      stack.clock.advance(by: .seconds(120))
      let back = try await signIn()
      try await revoke(at: then)
      try await expectEnds(of: sessions, "revoked_by_issuer", toldTo: phone.id, stack, receiver)
      #expect(try await back.browser.get("/api/v1/auth/me").status == 200)
    }
  }

  @Test(arguments: engines) func whoChangesTheirPasswordIsToldOfTheOtherSessions(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let credentials = ["email": "alice@example.com", "password": "correct horse"]
      func enter(_ path: String) async throws -> SignedInUser {
        let reply = try await stack.gateway.post("/api/v1/auth/\(path)", credentials)
        return try await SignedInUser(reply, through: stack.gateway)
      }
      let (phone, tablet) = (try await enter("sign_up"), try await enter("sign_in"))
      let ended = try await session(of: tablet)
      for (current, status) in [("wrong horse", 422), ("correct horse", 200)] {
        let body = ["current_password": current, "password": "a new horse"]
        let changed = try await phone.browser.send(.PATCH, "/api/v1/users/profile/password", json: body)
        #expect(changed.status == status, "\(changed.text)")
      }
      try await expectEnds(of: [ended], "password_changed", toldTo: phone.id, stack, receiver)
      #expect(try await phone.browser.get("/api/v1/auth/me").status == 200)
    }
  }

  @Test(arguments: engines) func whoResetsTheirPasswordByMailIsToldOfEverySession(engine: Engine) async throws {
    let receiver = EventsReceiver()
    try await running([receiver.server()]) {
      try await withAuthFixture(engine, TestStack.eventsURL) { auth in
        try await auth.stack.deliverEvents(to: receiver)
        let address = "alice@example.com"
        let alice = try await SignedInUser(try await auth.signUp("alice"), through: auth.gateway)
        let ended = try await session(of: alice)
        _ = try await auth.receivedMail(to: address)
        let before = auth.mailCount(to: address)
        #expect(try await auth.gateway.post("/api/v1/auth/password", ["email": address]).status == 200)
        let code = try await auth.receivedMail(to: address, after: before).code
        for (token, status) in [("000000", 400), (code, 200)] {
          let body = ["email": address, "token": token, "password": "a new horse"]
          let reset = try await auth.gateway.send(.PUT, "/api/v1/auth/password", json: body)
          #expect(reset.status == status, "\(reset.text)")
        }
        try await expectEnds(of: [ended], "password_changed", toldTo: alice.id, auth.stack, receiver)
      }
    }
  }

  /// A session that has reached its maximum age ends when it is to be refreshed.
  @Test(arguments: engines) func whoseSessionIsTooOldIsToldOnce(engine: Engine) async throws {
    try await withEvents(of: engine, ["SESSION_MAX_DAYS": "1"]) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let ended = try await session(of: alice)
      func refresh(_ token: String) async throws -> Browser.Reply {
        try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": token])
      }
      stack.clock.advance(by: .seconds(86_000))
      let refreshed = try await refresh(alice.refresh)
      #expect(refreshed.status == 200)
      stack.clock.advance(by: .seconds(500))
      for _ in 0..<2 { #expect(try await refresh(refreshed.string("refresh_token")).status == 401) }
      try await expectEnds(of: [ended], "expired", toldTo: alice.id, stack, receiver)
    }
  }
}
