import Database
import Foundation
import Support
import Testing
import Wire

/// Changes of an account that are made in one transaction.
@Suite struct AtomicChangeTests {
  private func database<T: Sendable>(
    _ auth: AuthFixture, _ work: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    let database = try await auth.stack.testDatabase.open("auth", [])
    let result = try await database.write(work)
    await database.close()
    return result
  }

  @Test(arguments: engines) func whoseSignUpFailsHasNoAccountAndTriesAgain(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      _ = try await database(auth) { db in try db.change("alter table challenge rename to away") }
      #expect(try await auth.signUp("alice").status >= 500)
      #expect(try await auth.count("account") == 0)
      _ = try await database(auth) { db in try db.change("alter table away rename to challenge") }
      #expect(try await auth.signUp("alice").status == 201)
      _ = try await auth.receivedMail(to: "alice@example.com")
    }
  }

  @Test(arguments: engines) func whoMayBeSentNoMailSignsUpAllTheSame(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      for _ in 0..<5 { _ = try await auth.gateway.post("/auth/v1/otp", ["email": "alice@example.com"]) }
      #expect(try await auth.gateway.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 429)
      #expect(try await auth.signUp("alice").status == 201)
      #expect(try await auth.count("challenge where kind = 'confirmation'") == 0)
    }
  }

  @Test(arguments: engines) func aUserIsChangedAsAWholeOrNotAtAll(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let signedUp = try await auth.signUp("alice")
      let alice = auth.gateway.bearing(signedUp.string("token"))
      let other = try await auth.gateway.post(
        "/api/v1/auth/sign_in", ["email": "alice@example.com", "password": "correct horse"])
      for _ in 0..<5 { _ = try await auth.gateway.post("/auth/v1/otp", ["email": "full@example.com"]) }
      let outboxCount = try await auth.count("outbox")
      let wrong: [([String: any Sendable], Int)] = [
        (["display_name": String(repeating: "x", count: 200)], 400), (["email": "nonsense"], 400),
        (["phone": "nonsense"], 400), (["data": ["much": String(repeating: "x", count: 20_000)]], 400),
        (["email": "full@example.com"], 429), (["email": "new@example.com", "phone": "12"], 400),
      ]
      for (changes, status) in wrong {
        let body = changes.merging(["password": "another horse", "display_name": "Mallory"]) { first, _ in first }
        let reply = try await alice.send(.PUT, "/auth/v1/user", json: body)
        #expect(reply.status == status, "\(changes.keys): \(reply.text)")
      }
      let there = auth.gateway.bearing(other.string("token"))
      #expect(try await there.get("/api/v1/auth/me").string("display_name") == "alice")
      #expect(try await auth.count("outbox") == outboxCount)
      let old = ["email": "alice@example.com", "password": "correct horse"]
      #expect(try await auth.gateway.post("/api/v1/auth/sign_in", old).status == 200)
      // A request that is valid as a whole is applied as a whole.
      let right: [String: any Sendable] = [
        "password": "another horse", "data": ["name": "Alice", "team": "red"], "email": "new@example.com",
        "phone": "4790123456",
      ]
      let done = try await alice.send(.PUT, "/auth/v1/user", json: right)
      #expect(done.status == 200 && (done["user_metadata"] as? [String: Any])?["team"] as? String == "red")
      #expect(done.string("display_name") == "Alice")
      #expect(try await there.get("/api/v1/auth/me").status == 401)
      #expect(try await auth.gateway.post("/api/v1/auth/sign_in", old).status == 401)
      _ = try await auth.receivedMail(to: "new@example.com")
      _ = try await auth.code(texted: "+4790123456")
    }
  }

  @Test(arguments: engines) func changesAtTheSameTimeLoseNothingOfEachOther(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let alice = auth.gateway.bearing(try await auth.signUp("alice").string("token"))
      for round in 0..<4 {
        let statuses = try await atOnce(16) { index in
          try await alice.send(.PUT, "/auth/v1/user", json: ["data": ["key-\(round)-\(index)": index]]).status
        }
        #expect(statuses.allSatisfy { $0 == 200 })
      }
      let kept = try #require(try await alice.get("/auth/v1/user")["user_metadata"] as? [String: Any])
      #expect(kept.keys.filter { $0.hasPrefix("key-") }.count == 64)
    }
  }

  @Test(arguments: engines) func nothingIsWrittenToAnAccountThatIsBeingForgotten(engine: Engine) async throws {
    try await withAuthFixture(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { auth in
      for round in 0..<6 {
        let alice = auth.gateway.bearing(try await auth.signUp("alice\(round)").string("token"))
        let apple = try auth.stack.apple.identityToken(
          subject: "subject \(round)", at: auth.stack.clock.now, changing: ["email": nil])
        async let deleted = alice.delete("/api/v1/auth/account").status
        let statuses = try await atOnce(12) { index in
          if index.isMultiple(of: 2) {
            return try await alice.post("/api/v1/auth/identities/apple", ["id_token": apple]).status
          }
          return try await alice.send(.PUT, "/auth/v1/user", json: ["data": ["nick": "Liddell"]]).status
        }
        #expect(try await deleted == 200)
        #expect(statuses.allSatisfy { $0 == 200 || $0 == 401 }, "\(statuses)")
        // Signing in with Apple still works afterwards.
        let again = try await auth.gateway.post("/api/v1/auth/apple", ["identity_token": apple])
        #expect(again.status == 200, "\(again.text)")
      }
      try await eventually("the erasures") { try await auth.count("erasure where finished_at is null") == 0 }
      let erased = "account a on a.id = x.account_id where a.erased_at is not null"
      #expect(try await auth.count("identity x join \(erased)") == 0)
      #expect(try await auth.count("account where erased_at is not null and metadata is not null") == 0)
    }
  }

  /// Apple's keys are fetched before anything is written: by then the account may have been erased.
  @Test(arguments: engines) func whatWasUnderWayFindsTheAccountForgotten(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let signedUp = try await auth.signUp("alice")
      let user = try #require((signedUp["user"] as? [String: Any])?["uuid"] as? String)
      let alice = auth.gateway.bearing(signedUp.string("token"))
      // Erased by another replica: this one's list of ended sessions does not have it yet.
      let now = Date()
      _ = try await database(auth) { db in
        try db.change("delete from password")
        try db.change("delete from identity")
        return try db.change("update account set deactivated_at = \(now), erased_at = \(now), email = null")
      }
      let apple = try auth.stack.apple.identityToken(at: auth.stack.clock.now)
      #expect(try await alice.post("/api/v1/auth/identities/apple", ["id_token": apple]).status == 401)
      #expect(try await alice.send(.PUT, "/auth/v1/user", json: ["data": ["nick": "Liddell"]]).status == 401)
      #expect(try await alice.send(.PUT, "/auth/v1/user", json: ["password": "another horse"]).status == 401)
      for table in ["identity", "password", "account where metadata is not null"] {
        #expect(try await auth.count(table) == 0, "\(table)")
      }
      let back = try await auth.gateway.post("/api/v1/auth/apple", ["identity_token": apple])
      #expect(back.status == 200 && (back["user"] as? [String: Any])?["uuid"] as? String != user)
    }
  }
}
