import Database
import Foundation
import Support
import Testing

/// Sign-in with a mailed code, or with a mailed link and the form on its page.
@Suite struct MailSignInTests {
  private func requestMail(
    _ auth: AuthFixture, _ address: String, _ query: String = ""
  ) async throws -> (code: String, link: String) {
    let before = auth.mailCount(to: address)
    #expect(try await auth.gateway.post("/auth/v1/otp\(query)", ["email": address]).status == 200)
    return try await auth.receivedMail(to: address, after: before)
  }

  @Test(arguments: engines) func aCodeSignsIn(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let message = try await requestMail(auth, "alice@example.com")
      @Sendable func verify(_ code: String) async throws -> Browser.Reply {
        try await auth.gateway.post(
          "/auth/v1/verify", ["type": "email", "email": "alice@example.com", "token": code])
      }
      #expect(try await verify(message.code == "000000" ? "000001" : "000000").status == 403)
      let statuses = try await atOnce(20) { _ in try await verify(message.code).status }
      #expect(statuses.filter { $0 == 200 }.count == 1 && statuses.filter { $0 == 403 }.count == 19)
      #expect(try await auth.count("identity where issuer = 'email' and is_email_verified") == 1)
    }
  }

  @Test(arguments: engines) func openingALinkChangesNothingAndItsButtonSignsInOnce(engine: Engine) async throws {
    try await withAuthFixture(engine, ["AUTH_REDIRECTS": "myapp://signed-in"]) { auth in
      // The page's URL comes from the configuration, not from request headers.
      let lying = auth.gateway.with(["X-Forwarded-Host": "evil.example", "Origin": "https://evil.example"])
      #expect(try await lying.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 200)
      let message = try await auth.receivedMail(to: "alice@example.com")
      #expect(message.link.hasPrefix("http://127.0.0.1:8080/auth/v1/verify?"))
      for _ in 0..<3 {
        let page = try await auth.openLink(message.link)
        #expect(page.status == 200 && page.text.contains("<button>"))
        #expect(page.headers.first(name: "content-security-policy")?.contains("default-src 'none'") == true)
        #expect(page.headers.first(name: "referrer-policy") == "no-referrer")
      }
      #expect(try await auth.count("session") == 0)
      let pressed = try await auth.submitLink(message.link)
      let place = try #require(pressed.headers.first(name: "location"))
      #expect(pressed.status == 303 && place.hasPrefix("myapp://signed-in#access_token="))
      let access = place.components(separatedBy: "access_token=")[1].components(separatedBy: "&")[0]
      let me = try await auth.gateway.bearing(access).get("/auth/v1/user")
      #expect(me.string("email") == "alice@example.com")
      #expect(try await auth.submitLink(message.link).status == 410)
      #expect(try await auth.openLink(message.link).status == 410)
      #expect(
        try await auth.gateway.get("/auth/v1/verify?token_hash=%22%3E%3Cscript%3E").text.contains("<script>") == false)
    }
  }

  @Test func aLinkLeadsOnlyToWhereItMay() async throws {
    try await withAuthFixture(.sqlite, ["AUTH_REDIRECTS": "myapp://signed-in,https://app.example/back"]) { auth in
      for (asked, expected) in [
        ("https://app.example/back/home", "https://app.example/back/home#"),
        ("https://evil.example", "myapp://signed-in#"),
        ("https://app.example.evil.example/back", "myapp://signed-in#"),
        ("https://app.example/backdoor", "myapp://signed-in#"),
        ("https://app.example/back/../admin/users", "myapp://signed-in#"),
        ("https://app.example/back/%2E%2e/admin/user", "myapp://signed-in#"),
        ("https://app.example/back/.%2e/admin/us", "myapp://signed-in#"),
        ("https://app.example/back/..\\admin", "myapp://signed-in#"),
        ("https://app.example/back/a%2f..%2f..", "myapp://signed-in#"),
        ("https://app.example/back/%252e%252e/a", "myapp://signed-in#"),
        ("https://app.example/back/#there", "myapp://signed-in#"),
        ("https://app.example/back/a..b?c=/../d", "https://app.example/back/a..b?c=/../d#"),
      ] {
        let query = asked.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let message = try await requestMail(auth, "a\(asked.count)@example.com", "?redirect_to=\(query)")
        let place = try await auth.submitLink(message.link).headers.first(name: "location") ?? ""
        #expect(place.hasPrefix(expected), "\(asked) led to \(place)")
      }
    }
  }

  @Test(arguments: engines) func withoutAnAppToGoBackToALinkConfirmsAndOpensNothing(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let message = try await requestMail(auth, "bob@example.com")
      #expect(message.link.isEmpty && message.code.count == 6)
      _ = try await auth.signUp("alice")
      let sessions = try await auth.count("session")
      let confirmation = try await auth.receivedMail(to: "alice@example.com")
      let statuses = try await atOnce(20) { _ in try await auth.submitLink(confirmation.link).status }
      #expect(statuses.filter { $0 == 200 }.count == 1 && statuses.filter { $0 == 410 }.count == 19)
      #expect(try await auth.count("identity where issuer = 'email' and is_email_verified") == 1)
      #expect(try await auth.count("session") == sessions)
    }
  }

  @Test(arguments: engines) func anAddressThatWasOnlyClaimedGoesToWhoeverVerifiesIt(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let claimed = try await auth.signUp("alice")
      let confirmation = try await auth.receivedMail(to: "alice@example.com")
      let message = try await requestMail(auth, "alice@example.com")
      let verified = try await auth.gateway.post(
        "/auth/v1/verify", ["type": "email", "email": "alice@example.com", "token": message.code])
      #expect(verified.status == 200)
      let owner = try #require((verified["user"] as? [String: Any])?["id"] as? String)
      #expect(owner != (claimed["user"] as? [String: Any])?["uuid"] as? String)
      // The password of the claiming account does not sign in to the owner's account.
      let signIn = ["email": "alice@example.com", "password": "correct horse"]
      #expect(try await auth.gateway.post("/api/v1/auth/sign_in", signIn).status == 401)
      // An old mail does not assign the address to the claiming account again.
      _ = try await auth.submitLink(confirmation.link)
      let again = try await requestMail(auth, "alice@example.com")
      let back = try await auth.gateway.post(
        "/auth/v1/verify", ["type": "email", "email": "alice@example.com", "token": again.code])
      #expect((back["user"] as? [String: Any])?["id"] as? String == owner)
    }
  }

  @Test(arguments: engines) func whoSignsUpConfirmsByTheMailThatCame(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let alice = try await auth.signUp("alice")
      let message = try await auth.receivedMail(to: "alice@example.com")
      let confirmed = try await auth.gateway.bearing(alice.string("token")).post(
        "/auth/v1/verify", ["type": "signup", "email": "alice@example.com", "token": message.code])
      #expect(confirmed.status == 200)
      let user = try #require(confirmed["user"] as? [String: Any])
      #expect(user["id"] as? String == (alice["user"] as? [String: Any])?["uuid"] as? String)
      #expect(user["email_confirmed_at"] is String)
      let signIn = ["email": "alice@example.com", "password": "correct horse"]
      #expect(try await auth.gateway.post("/api/v1/auth/sign_in", signIn).status == 200)
    }
  }

  @Test(arguments: engines) func mailsAreCountedAndWhoWantsNoNewAccountMakesNone(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      for _ in 0..<5 { _ = try await requestMail(auth, "alice@example.com") }
      #expect(try await auth.gateway.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 429)
      let stranger: [String: any Sendable] = ["email": "nobody@example.com", "create_user": false]
      #expect(try await auth.gateway.post("/auth/v1/otp", stranger).status == 200)
      #expect(try await auth.gateway.post("/auth/v1/recover", ["email": "nobody@example.com"]).status == 200)
      try await Task.sleep(for: .milliseconds(300))
      #expect(auth.mailCount(to: "nobody@example.com") == 0)
    }
  }

  @Test(arguments: engines) func aMailThatCannotBeSentNowIsSentLaterAndTheSameOne(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      auth.mail.next(.replies("451 4.3.0 later", to: "RCPT"), times: 2)
      #expect(try await auth.gateway.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 200)
      try await eventually("the message", passing: .seconds(5), on: auth.stack.clock) {
        try await auth.count("outbox where lease is not null")
      } _: {
        auth.mailCount(to: "alice@example.com") == 1
      }
      // The outcome is stored a moment after the server has accepted the mail.
      try await eventually {
        try await auth.count("outbox where outcome = 'done' and tries = 3 and content is null") == 1
      }
    }
  }
}
