import Database
import Foundation
import Support
import Testing
import Tokens

@testable import Auth

/// A session ends at its maximum age, however often it is refreshed.
@Suite struct SessionLifetimeTests {
  private struct Claims: Decodable { let exp: Double }

  private func refresh(_ stack: TestStack, _ token: String) async throws -> Browser.Reply {
    try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": token])
  }

  @Test(arguments: engines) func aSessionEndsHoweverOftenItIsRefreshed(engine: Engine) async throws {
    try await withStack(engine, ["SESSION_MAX_DAYS": "40"]) { stack in
      let opened = stack.clock.now
      let credentials = ["email": "alice@example.com", "password": "correct horse"]
      var last = try await stack.gateway.post("/api/v1/auth/sign_up", credentials)
      for _ in 0..<3 {
        stack.clock.advance(by: .seconds(13 * 86_400))
        last = try await refresh(stack, last.string("refresh_token"))
        #expect(last.status == 200)
        // The app's access token would be valid for thirty days.
        let end = try last.string("access_token").claims(as: Claims.self).exp
        #expect(end <= opened.timeIntervalSince1970 + 40 * 86_400 + 60)
      }
      #expect(last.int("expires_in") ?? 0 <= 86_400)
      #expect(try await latestExpiry(stack) <= opened + 40 * 86_400 + 60)
      // Another session of hers, which was opened later, continues.
      let other = try await stack.gateway.post("/api/v1/auth/sign_in", credentials)
      stack.clock.advance(by: .seconds(86_400 + 120))
      #expect(try await stack.gateway.bearing(last.string("token")).get("/profile").status == 401)
      let refused = try await refresh(stack, last.string("refresh_token"))
      #expect(refused.status == 401 && refused.string("code") == "invalid_refresh_token")
      let kept = try await refresh(stack, other.string("refresh_token"))
      #expect(kept.status == 200)
      let listed = try await stack.gateway.bearing(kept.string("token")).get("/api/v1/auth/sessions")
      let ended = (listed["sessions"] as? [[String: Any]] ?? []).filter { $0["ended_at"] is String }
      #expect(ended.map { $0["end_reason"] as? String } == ["expired"])
    }
  }

  /// The latest expiry of the refresh tokens.
  private func latestExpiry(_ stack: TestStack) async throws -> Date {
    let database = try await stack.testDatabase.open("auth", [])
    let latest = try await database.read { db in
      try db.row("select max(expires_at) as latest from refresh_token")?.get("latest", as: Date.self)
    }
    await database.close()
    return try #require(latest)
  }

  /// Otherwise the ends of the last minute would be returned every second until another session ends.
  @Test(arguments: engines) func theListOfEndedSessionsGoesOnWhenNothingEnds(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
      let service = stack.auth.with(stack.with(key: "lists"))
      let path = "/internal/sessions/ended"
      let first = try await service.get(path)
      #expect((first["sessions"] as? [Any])?.count == 1)
      try await Task.sleep(for: .milliseconds(20))
      let second = try await service.get("\(path)?since=\(first.string("cursor"))")
      // It reaches back, so that an end which was committed late is not missed.
      #expect((second["sessions"] as? [Any])?.count == 1)
      #expect(second.string("cursor") > first.string("cursor"))
    }
  }

  @Test func aListThatIsNotReadAnyMoreIsNotRecent() {
    let list = EndedSessionList()
    let now = Date()
    #expect(!list.isRecent(at: now))
    list.add([], at: now)
    #expect(list.isRecent(at: now + 2))
    #expect(!list.isRecent(at: now + 4))
  }

  @Test(arguments: engines) func whoWaitsForEndedSessionsCostsNoReadUntilOneEnds(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let service = stack.auth.with(stack.with(key: "lists"))
      let path = "/internal/sessions/ended"
      let first = try await service.get(path)
      let rest = "since=\(first.string("cursor"))&version=\(first.string("version"))"
      let unchanged = try await service.get("\(path)?\(rest)&wait=1")
      #expect((unchanged["sessions"] as? [Any])?.isEmpty == true)
      #expect(unchanged.string("version") == first.string("version"))
      // A read would have advanced it.
      #expect(unchanged.string("cursor") == first.string("cursor"))

      async let waiting = service.get("\(path)?\(rest)&wait=8")
      try await Task.sleep(for: .milliseconds(100))
      #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
      let changed = try await waiting
      #expect((changed["sessions"] as? [Any])?.count == 1)
      #expect(changed.string("cursor") > first.string("cursor"))
    }
  }

  @Test(arguments: engines) func theRetryOfALostRefreshEndsWithTheSession(engine: Engine) async throws {
    try await withStack(engine, ["SESSION_MAX_DAYS": "1"]) { stack in
      let alice = try await stack.signIn("alice")
      stack.clock.advance(by: .seconds(86_000))
      let browser = stack.gateway.with(["Idempotency-Key": "one try"])
      let first = try await browser.post("/api/v1/auth/refresh", ["refresh_token": alice.refresh])
      #expect(first.status == 200 && first.int("expires_in") ?? 900 <= 400)
      stack.clock.advance(by: .seconds(500))
      #expect(try await browser.post("/api/v1/auth/refresh", ["refresh_token": alice.refresh]).status == 401)
    }
  }
}
