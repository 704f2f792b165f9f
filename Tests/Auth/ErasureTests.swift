import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Deleted accounts: restored by signing in, or erased in every service.
@Suite struct ErasureTests {
  @Test(arguments: engines) func thirtyDaysLaterTheAccountIsForgottenButForItsLedger(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)
      #expect(try await alice.browser.send(.DELETE, "/api/v1/auth/account").status == 200)
      stack.clock.advance(by: .seconds(29 * 86_400))
      try await Task.sleep(for: .milliseconds(1200))
      #expect(try await matchingAccounts(stack, of: alice.id, "email is not null and erased_at is null") == 1)
      stack.clock.advance(by: .seconds(86_401))
      try await eventually { try await finishedErasures(stack) == 1 }
      #expect(try await matchingAccounts(stack, of: alice.id, "email is null and display_name is null") == 1)
      #expect(try await stack.count("identity", in: "auth") == 0)
      // The ledger stays under the bare id; signing in again creates another account.
      let credits = CreditsClient(in: stack.dependencies(of: "lists"))
      #expect(try await credits.check(alice.id, cost: 50).sufficient)
      let again = try await stack.signIn("alice")
      #expect(again.id != alice.id)
    }
  }

  @Test(arguments: engines) func whoSignsInBeforeThatHasTheAccountBack(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await alice.browser.send(.DELETE, "/api/v1/auth/account")
      stack.clock.advance(by: .seconds(29 * 86_400))
      #expect(try await stack.signIn("alice").id == alice.id)
      stack.clock.advance(by: .seconds(2 * 86_400))
      try await Task.sleep(for: .milliseconds(1200))
      #expect(try await matchingAccounts(stack, of: alice.id, "email is not null and deactivated_at is null") == 1)
      // The account can be deleted again.
      let back = try await stack.signIn("alice")
      #expect(try await back.browser.send(.DELETE, "/api/v1/auth/account").status == 200)
      #expect(try await back.browser.send(.DELETE, "/api/v1/auth/account").status == 401)
    }
  }

  @Test(arguments: engines) func aServiceThatIsDownIsAskedUntilItAnswers(engine: Engine) async throws {
    try await withStack(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack in
      let credits = stack.dependencies.serviceAddresses.urls(of: .credits)
      stack.dependencies.serviceAddresses.set(.credits, to: "http://127.0.0.1:1")
      let alice = try await stack.signIn("alice")
      #expect(try await alice.browser.send(.DELETE, "/api/v1/auth/account").status == 200)
      try await eventually { try await stack.count("erasure where tries > 1 and finished_at is null", in: "auth") == 1 }
      // Nobody can sign in to an account that is being erased.
      #expect(try await stack.signIn("alice").id != alice.id)
      stack.dependencies.serviceAddresses.set(.credits, to: credits)
      stack.clock.advance(by: .seconds(60))
      try await eventually { try await finishedErasures(stack) == 1 }
    }
  }

  @Test(arguments: engines) func signingInAtThatVeryMomentIsOneOrTheOther(engine: Engine) async throws {
    try await withStack(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack in
      let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
      for round in 0..<10 {
        let alice = try await stack.signIn("alice\(round)")
        async let deleted = alice.browser.send(.DELETE, "/api/v1/auth/account").status
        let rivals = try await atOnce(8) { _ in
          try await admin.post("/api/v1/auth/dev/token", ["email": "alice\(round)@example.com"]).status
        }
        #expect(try await deleted == 200)
        #expect(rivals.allSatisfy { $0 == 200 })
        let last = try await stack.signIn("alice\(round)")
        #expect(try await last.browser.get("/api/v1/auth/me").string("email") == "alice\(round)@example.com")
      }
    }
  }

  @Test(arguments: engines) func anExportIsCompleteOrNotThere(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await alice.browser.get("/api/v1/credits/balance")
      let export = try await alice.browser.get("/api/v1/users/me/export")
      #expect(export.status == 200)
      let user = try #require(export["user"] as? [String: Any])
      #expect(user["id"] as? String == alice.id.description && user["email"] as? String == "alice@example.com")
      #expect(user["is_active"] as? Bool == true && user["last_login_at"] is String)
      #expect((export["credit_history"] as? [[String: Any]])?.first?["amount"] as? Int == 50)
      #expect((export["timepoints"] as? [Any])?.isEmpty == true)
      #expect((export["identities"] as? [Any])?.count == 2)
      #expect((export["data"] as? [String: Any])?["credits"] != nil)
      #expect(try await stack.gateway.get("/api/v1/users/me/export").status == 401)
      stack.dependencies.serviceAddresses.set(.credits, to: "http://127.0.0.1:1")
      #expect(try await alice.browser.get("/api/v1/users/me/export").status == 503)
      let data = "/internal/users/\(alice.id)/data"
      #expect(try await stack.credits.get(data).status == 403)
      #expect(try await stack.credits.with(stack.with(key: "lists")).send(.DELETE, data).status == 403)
      #expect(try await stack.gateway.with(stack.with(key: "auth")).get(data).status == 404)
    }
  }

  @Test(arguments: engines) func anExportHasTheWelcomeCreditsAndItsTimesInWholeSeconds(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await alice.browser.post("/api/v1/lists", ["list": ["name": "Marbles"]])
      _ = try await alice.browser.post("/api/groups", ["name": "Ours", "member_phone_numbers": [String]()])
      // She has never requested her balance.
      let export = try await alice.browser.get("/api/v1/users/me/export")
      let history = try #require(export["credit_history"] as? [[String: Any]])
      #expect(history.map { $0["type"] as? String } == ["signup_bonus"])
      #expect(export.text.matches(of: /\d\d:\d\d:\d\dZ/).count > 6)
      #expect(export.text.firstMatch(of: /\d\d:\d\d:\d\d\.\d+Z/) == nil)
    }
  }

  @Test(arguments: engines) func anExportLeavesNothingOutOfWhatAuthKeeps(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let signedUp = try await auth.gateway.with(["User-Agent": "Kith/1.0 iPhone"]).post(
        "/auth/v1/signup", ["email": "alice@example.com", "password": "correct horse", "data": ["team": "red"]])
      let alice = auth.gateway.bearing(signedUp.string("access_token"))
      let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now)
      #expect(try await alice.post("/api/v1/auth/identities/apple", ["id_token": token]).status == 200)
      let signIn = ["email": "alice@example.com", "password": "correct horse"]
      let other = try await auth.gateway.post("/api/v1/auth/sign_in", signIn)
      let end = auth.gateway.bearing(other.string("token"))
      #expect(try await end.delete("/api/v1/auth/sign_out").status == 200)
      let export = try await alice.get("/api/v1/users/me/export")
      #expect(export.status == 200, "\(export.text)")
      let user = try #require(export["user"] as? [String: Any])
      #expect((user["metadata"] as? [String: Any])?["team"] as? String == "red" && user["number"] as? Int == 1)
      #expect(user["is_anonymous"] as? Bool == false && user["is_discoverable"] as? Bool == true)
      #expect(user["password_changed_at"] is String)
      let identities = try #require(export["identities"] as? [[String: Any]])
      let apple = identities.first { ($0["issuer"] as? String)?.contains("apple") == true }
      #expect(apple?["private_email"] as? Bool == true)
      let sessions = try #require(export["sessions"] as? [[String: Any]])
      let here = try #require(sessions.first { $0["door"] as? String == "supabase" })
      #expect(here["device"] as? String == "Kith/1.0 iPhone" && here["last_seen_at"] is String)
      let there = try #require(sessions.first { $0["door"] as? String == "sign_in" })
      #expect(there["end_reason"] as? String == "signed_out")
      #expect((export["unlinked_identities"] as? [Any])?.isEmpty == true)
    }
  }

  @Test(arguments: engines) func aDeletedAccountHasNoLivingSessionWhateverCameAtTheSameTime(engine: Engine) async throws
  {
    try await withStack(engine) { stack in
      let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
      for round in 0..<10 {
        let alice = try await stack.signIn("alice\(round)")
        async let deleted = alice.browser.send(.DELETE, "/api/v1/auth/account").status
        _ = try await atOnce(8) { _ in
          try await admin.post("/api/v1/auth/dev/token", ["email": "alice\(round)@example.com"]).status
        }
        #expect(try await deleted == 200)
      }
      let living: SQL =
        "session s join account a on a.id = s.account_id where a.deactivated_at is not null and s.ended_at is null"
      #expect(try await stack.count(living, in: "auth") == 0)
    }
  }

  private func matchingAccounts(_ stack: TestStack, of user: UserID, _ condition: String) async throws -> Int {
    try await stack.count(SQL(stringLiteral: "account where id = '\(user)' and \(condition)"), in: "auth")
  }

  private func finishedErasures(_ stack: TestStack) async throws -> Int {
    try await stack.count("erasure where finished_at is not null and due_at is null", in: "auth")
  }
}
