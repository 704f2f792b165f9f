import Database
import Foundation
import Support
import Testing

/// `/auth/v1`, used by Supabase's own client library.
@Suite struct SupabaseTests {
  @Test(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: what apps call Supabase by was not tried"))
  func everyMethodOfSupabasesOwnLibraryWorksOrIsATypedError() async throws {
    let settings = [
      "SMS_TEST_CODES": "+15550001111:424242,+15550002222:424242", "SMS_PER_NUMBER_HOUR": "100",
      "AUTH_REDIRECTS": "myapp://signed-in",
    ]
    try await withAuthFixture(.sqlite, settings) { auth in
      let file = FileManager.default.temporaryDirectory.appending(path: "kith-mails-\(UUID()).json")
      // `try?`: a leftover file does no harm.
      defer { try? FileManager.default.removeItem(at: file) }
      try write(auth.mail.messages, to: file)
      let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now)
      let said = try await withThrowingTaskGroup(of: String?.self) { group in
        group.addTask {
          try await Python.run(
            Python.script("supabase_auth_surface"), arguments: [auth.gateway.base, file.path, token])
        }
        group.addTask {
          while !Task.isCancelled {
            try write(auth.mail.messages, to: file)
            // `try?`: cancelled means that the program has ended.
            try? await Task.sleep(for: .milliseconds(50))
          }
          return nil
        }
        let said = try await group.next() ?? nil
        group.cancelAll()
        return said
      }
      #expect(said?.contains("all well") == true, "\(said ?? "")")
    }
  }

  /// The program reads the file while it is rewritten, so it is replaced atomically.
  private func write(_ mails: [ReceivedMail], to file: URL) throws {
    let read = mails.map { message in
      let text = message.part("text/plain") ?? ""
      return [
        "to": message.to.first ?? "", "code": text.firstMatch(of: /\b\d{6}\b/).map { String($0.output) } ?? "",
        "link": text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http") }.map(String.init) ?? "",
      ]
    }
    try JSONSerialization.data(withJSONObject: read).write(to: file, options: .atomic)
  }

  private func signUp(
    _ auth: AuthFixture, _ name: String, path: String = "/auth/v1/signup"
  ) async throws -> Browser.Reply {
    try await auth.gateway.post(
      path, ["email": "\(name)@example.com", "password": "correct horse", "data": ["display_name": name]])
  }

  private func refresh(_ auth: AuthFixture, _ token: String) async throws -> Browser.Reply {
    try await auth.gateway.post("/auth/v1/token?grant_type=refresh_token", ["refresh_token": token])
  }

  @Test(arguments: engines) func theOlderCallsGiveTheSameSession(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let signedUp = try await signUp(auth, "alice", path: "/auth/v1/signup/email")
      #expect(signedUp.status == 200 && signedUp.int("expires_in") == 3600)
      #expect(signedUp.string("token_type") == "bearer" && signedUp.int("expires_at") ?? 0 > 1_700_000_000)
      let signedIn = try await auth.gateway.post(
        "/auth/v1/signin/email", ["email": "alice@example.com", "password": "correct horse"])
      let user = try #require(signedIn["user"] as? [String: Any])
      #expect(user["display_name"] as? String == "alice")
      let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now)
      let apple = try await auth.gateway.post("/auth/v1/signin/apple", ["id_token": token])
      #expect(apple.status == 200)
      let other = try await auth.gateway.post(
        "/auth/v1/token?grant_type=id_token", ["provider": "apple", "id_token": token])
      #expect(
        (other["user"] as? [String: Any])?["id"] as? String == (apple["user"] as? [String: Any])?["id"] as? String)
      let here = auth.gateway.bearing(signedIn.string("access_token"))
      #expect(try await here.post("/auth/v1/signout").status == 204)
      #expect(try await here.get("/auth/v1/user").status == 401)
    }
  }

  /// As the app sends them, and what its model of the answer needs.
  @Test(arguments: engines) func theSamplesOfTheAppSignUpAndIn(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let body = ["email": "user@example.com", "password": "password123"]
      #expect(try await auth.gateway.post("/auth/v1/signup/email", body).status == 200)
      let session = try await auth.gateway.post("/auth/v1/signin/email", body)
      #expect(session.status == 200 && session.string("token_type") == "bearer" && session.int("expires_in") == 3600)
      #expect(!session.string("access_token").isEmpty && !session.string("refresh_token").isEmpty)
      let user = try #require(session["user"] as? [String: Any])
      #expect(UUID(uuidString: user["id"] as? String ?? "") != nil)
      #expect(user["email"] as? String == "user@example.com")
      let wrong = try await auth.gateway.post("/auth/v1/signin/email", body.merging(["password": "password124"]) { $1 })
      #expect(wrong.status == 400 && wrong.string("error_code") == "invalid_credentials", "\(wrong.text)")
    }
  }

  @Test(arguments: engines) func theTenSecondsHoldForSupabasesClientsOnly(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let first = try await signUp(auth, "alice").string("refresh_token")
      // Two seconds of the ten are little on a busy machine.
      auth.stack.clock.stop()
      let pair = try await refresh(auth, first)
      #expect(pair.status == 200)
      auth.stack.clock.advance(by: .seconds(8))
      let again = try await refresh(auth, first)
      #expect(again.status == 200 && again.string("refresh_token") == pair.string("refresh_token"))
      // The grace period is the session's, whichever endpoint refreshes it.
      let elsewhere = try await auth.gateway.post("/api/v1/auth/refresh", ["refresh_token": first])
      #expect(elsewhere.status == 200)
      auth.stack.clock.advance(by: .seconds(3))
      #expect(try await refresh(auth, first).status == 401)
      #expect(try await refresh(auth, pair.string("refresh_token")).status == 401)
      // A session that was opened by another API has no grace period here either.
      let bob = try await auth.stack.signIn("bob")
      #expect(try await refresh(auth, bob.refresh).status == 200)
      #expect(try await refresh(auth, bob.refresh).status == 401)
    }
  }

  @Test(arguments: engines) func signingOutReachesAsFarAsItSays(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      _ = try await signUp(auth, "alice")
      func signIn() async throws -> Browser {
        let reply = try await auth.gateway.post(
          "/auth/v1/token?grant_type=password", ["email": "alice@example.com", "password": "correct horse"])
        return auth.gateway.bearing(reply.string("access_token"))
      }
      func isIn(_ browser: Browser) async throws -> Bool { try await browser.get("/auth/v1/user").status == 200 }
      let (phone, tablet, watch) = (try await signIn(), try await signIn(), try await signIn())
      #expect(try await watch.post("/auth/v1/logout?scope=local").status == 204)
      #expect(try await isIn(phone))
      #expect(try await isIn(tablet))
      #expect(try await isIn(watch) == false)
      #expect(try await phone.post("/auth/v1/logout?scope=others").status == 204)
      #expect(try await isIn(phone))
      #expect(try await isIn(tablet) == false)
      #expect(try await phone.post("/auth/v1/logout?scope=nowhere").status == 400)
      #expect(try await phone.post("/auth/v1/logout").status == 204)
      #expect(try await isIn(phone) == false)
    }
  }

  /// A signed-in user changes address and number: the code is verified with the type of the change and identifies the
  /// account by itself. With another user's bearer it is rejected.
  @Test(arguments: engines) func aNewAddressAndANewNumberAreVerifiedByWhoAskedForThem(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let signedUp = try await signUp(auth, "alice")
      let alice = auth.gateway.bearing(signedUp.string("access_token"))
      let asked = try await alice.send(
        .PUT, "/auth/v1/user", json: ["email": "new@example.com", "phone": "4790123456"])
      #expect(asked.status == 200 && asked.string("email") == "alice@example.com")
      let message = try await auth.receivedMail(to: "new@example.com")
      let text = try await auth.code(texted: "+4790123456")
      let email = ["type": "email_change", "email": "new@example.com", "token": message.code]
      let phone = ["type": "phone_change", "phone": "4790123456", "token": text]
      let bob = auth.gateway.bearing(try await signUp(auth, "bob").string("access_token"))
      let project = auth.gateway.bearing("eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl")
      for change in [email, phone] { #expect(try await bob.post("/auth/v1/verify", change).status == 403) }
      let wrong = email.merging(["token": message.code == "000000" ? "000001" : "000000"]) { $1 }
      #expect(try await alice.post("/auth/v1/verify", wrong).status == 403)
      for (browser, change, count) in [(alice, email, 1), (project, phone, 2)] {
        let reply = try await browser.post("/auth/v1/verify", change)
        #expect(reply.status == 200 && reply.int("expires_in") == 3600, "\(reply.text)")
        let user = try #require(reply["user"] as? [String: Any])
        #expect(user["id"] as? String == (signedUp["user"] as? [String: Any])?["id"] as? String)
        #expect((user["identities"] as? [Any])?.count == count)
        let next = auth.gateway.bearing(reply.string("access_token"))
        #expect(try await next.get("/auth/v1/user").status == 200)
        #expect(try await alice.post("/auth/v1/verify", change).status == 403)
      }
      // Signing in works as before, whatever the Authorization header has.
      #expect(try await project.post("/auth/v1/otp", ["phone": "4790123456"]).status == 200)
      let code = try await auth.code(texted: "+4790123456", after: 1)
      let back = try await project.post("/auth/v1/verify", ["type": "sms", "phone": "4790123456", "token": code])
      #expect(back.status == 200)
    }
  }

  @Test func errorsAreInGoTruesWords() async throws {
    try await withAuthFixture(.sqlite) { auth in
      _ = try await signUp(auth, "alice")
      let versioned = auth.gateway.with(["X-Supabase-Api-Version": "2024-01-01"])
      let taken = try await versioned.post(
        "/auth/v1/signup", ["email": "alice@example.com", "password": "correct horse"])
      #expect(taken.status == 422 && taken.string("code") == "user_already_exists")
      #expect(taken.string("message") == "User already registered" && taken["error"] == nil)
      #expect(taken.headers.first(name: "x-sb-error-code") == "user_already_exists")
      #expect(taken.headers.first(name: "x-supabase-api-version") == "2024-01-01")
      let late = try await auth.gateway.post(
        "/auth/v1/verify", ["type": "email", "email": "alice@example.com", "token": "123456"])
      #expect(late.status == 403 && late.string("code") == "otp_expired")
      let odd = try await auth.gateway.post("/auth/v1/token?grant_type=magic", ["email": "a@b.example"])
      #expect(odd.status == 400 && odd.string("code") == "validation_failed")
    }
  }

  @Test func aProjectsKeyIsAskedForWhereOneIsConfigured() async throws {
    try await withAuthFixture(.sqlite, ["API_KEYS": "first key, second key"]) { auth in
      let body = ["email": "alice@example.com", "password": "correct horse"]
      for (key, status) in [("", 401), ("third key", 401), ("second key", 200)] {
        let reply = try await auth.gateway.with(["apikey": key]).post("/auth/v1/signup", body)
        #expect(reply.status == status)
      }
      #expect(try await auth.gateway.post("/api/v1/auth/sign_in", body).status == 200)
    }
  }
}
