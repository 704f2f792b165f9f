import Database
import Foundation
import Support
import Testing
import Wire

/// The user's list of sessions.
@Suite struct SessionListTests {
  @Test(arguments: engines) func sessionsAreListedAndEndedOneByOne(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      _ = try await auth.signUp("alice")
      func signIn(_ device: String) async throws -> Browser {
        let reply = try await auth.gateway.with(["User-Agent": device]).post(
          "/api/v1/auth/sign_in", ["email": "alice@example.com", "password": "correct horse"])
        return auth.gateway.bearing(reply.string("token"))
      }
      let (phone, tablet) = (try await signIn("Kith/1.0 iPhone"), try await signIn("Kith/1.0 iPad"))
      let sessions = try #require(try await phone.get("/api/v1/auth/sessions")["sessions"] as? [[String: Any]])
      #expect(sessions.count == 3 && sessions.filter { $0["current"] as? Bool == true }.count == 1)
      let other = try #require(sessions.first { $0["device"] as? String == "Kith/1.0 iPad" })
      let path = "/api/v1/auth/sessions/\(other["id"] as? String ?? "")"
      let bob = auth.gateway.bearing(try await auth.signUp("bob").string("token"))
      #expect(try await bob.delete(path).status == 404)
      #expect(try await tablet.get("/profile").status == 200)
      #expect(try await phone.delete(path).status == 204)
      #expect(try await tablet.get("/profile").status == 401)
      #expect(try await phone.delete(path).status == 404)
      #expect(try await phone.delete("/api/v1/auth/sessions").int("ended") == 1)
      #expect(try await phone.get("/profile").status == 200)
    }
  }

  @Test(arguments: engines) func aSessionThatIsUsedIsSeenToTheHour(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      // Its access token is valid for thirty days, so it is not refreshed.
      let alice = auth.gateway.bearing(try await auth.signUp("alice").string("token"))
      func lastSeen() async throws -> Date? {
        let list = try await alice.get("/api/v1/auth/sessions")["sessions"] as? [[String: Any]]
        return (list?.first?["last_seen_at"] as? String).flatMap { RFC3339.parse($0) }
      }
      let opened = try #require(try await lastSeen())
      auth.stack.clock.advance(by: .seconds(1800))
      _ = try await alice.get("/profile")
      #expect(try await lastSeen() == opened)
      auth.stack.clock.advance(by: .seconds(5 * 86_400))
      _ = try await alice.get("/api/v1/auth/me")
      let later = try #require(try await lastSeen())
      #expect(later.timeIntervalSince(opened) >= 5 * 86_400)
      auth.stack.clock.advance(by: .seconds(1800))
      _ = try await alice.get("/profile")
      #expect(try await lastSeen() == later)
    }
  }

  @Test(arguments: engines) func whoseTokenWasStolenCanReadIt(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let alice = try await auth.stack.signIn("alice")
      let path = "/api/v1/auth/refresh"
      #expect(try await auth.gateway.post(path, ["refresh_token": alice.refresh]).status == 200)
      #expect(try await auth.gateway.post(path, ["refresh_token": alice.refresh]).status == 401)
      #expect(try await alice.browser.get("/api/v1/auth/me").status == 401)
      let back = try await auth.stack.signIn("alice")
      let sessions = try #require(try await back.browser.get("/api/v1/auth/sessions")["sessions"] as? [[String: Any]])
      #expect(sessions.compactMap { $0["end_reason"] as? String } == ["refresh_token_reused"])
    }
  }
}
