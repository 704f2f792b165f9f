import Database
import Foundation
import Support
import Testing

/// Signing in by what a mail brings: six digits, or a link whose page asks first.
@Suite struct MailSignInTests {
  private func ask(_ doors: Doors, _ address: String, _ query: String = "") async throws -> (code: String, link: String)
  {
    let before = doors.letters(to: address)
    #expect(try await doors.gateway.post("/auth/v1/otp\(query)", ["email": address]).status == 200)
    return try await doors.letter(to: address, after: before)
  }

  private func path(_ link: String) -> String {
    String(link.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" })
  }

  private func press(_ doors: Doors, _ link: String) async throws -> Browser.Reply {
    let token = link.components(separatedBy: "token_hash=").last ?? ""
    return try await doors.gateway.with(["Content-Type": "application/x-www-form-urlencoded"])
      .send(.POST, "/auth/v1/verify", body: Data("token_hash=\(token)".utf8))
  }

  @Test(arguments: engines) func aCodeSignsIn(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let letter = try await ask(doors, "alice@example.com")
      @Sendable func verify(_ code: String) async throws -> Browser.Reply {
        try await doors.gateway.post(
          "/auth/v1/verify", ["type": "email", "email": "alice@example.com", "token": code])
      }
      #expect(try await verify(letter.code == "000000" ? "000001" : "000000").status == 403)
      let statuses = try await atOnce(20) { _ in try await verify(letter.code).status }
      #expect(statuses.filter { $0 == 200 }.count == 1 && statuses.filter { $0 == 403 }.count == 19)
      #expect(try await doors.count("identity where issuer = 'email' and is_email_verified") == 1)
    }
  }

  @Test(arguments: engines) func openingALinkChangesNothingAndItsButtonSignsInOnce(engine: Engine) async throws {
    try await withDoors(engine, ["AUTH_REDIRECTS": "myapp://signed-in"]) { doors in
      // The page's address comes from the configuration, whatever a request says of itself.
      let lying = doors.gateway.with(["X-Forwarded-Host": "evil.example", "Origin": "https://evil.example"])
      #expect(try await lying.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 200)
      let letter = try await doors.letter(to: "alice@example.com")
      #expect(letter.link.hasPrefix("http://127.0.0.1:8080/auth/v1/verify?"))
      for _ in 0..<3 {
        let page = try await doors.gateway.get(path(letter.link))
        #expect(page.status == 200 && page.text.contains("<button>"))
        #expect(page.headers.first(name: "content-security-policy")?.contains("default-src 'none'") == true)
        #expect(page.headers.first(name: "referrer-policy") == "no-referrer")
      }
      #expect(try await doors.count("session") == 0)
      let pressed = try await press(doors, letter.link)
      let place = try #require(pressed.headers.first(name: "location"))
      #expect(pressed.status == 303 && place.hasPrefix("myapp://signed-in#access_token="))
      let access = place.components(separatedBy: "access_token=")[1].components(separatedBy: "&")[0]
      let me = try await doors.gateway.bearing(access).get("/auth/v1/user")
      #expect(me.string("email") == "alice@example.com")
      #expect(try await press(doors, letter.link).status == 410)
      #expect(try await doors.gateway.get(path(letter.link)).status == 410)
      #expect(
        try await doors.gateway.get("/auth/v1/verify?token_hash=%22%3E%3Cscript%3E").text.contains("<script>") == false)
    }
  }

  @Test func aLinkLeadsOnlyToWhereItMay() async throws {
    try await withDoors(.sqlite, ["AUTH_REDIRECTS": "myapp://signed-in,https://app.example/back"]) { doors in
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
        let letter = try await ask(doors, "a\(asked.count)@example.com", "?redirect_to=\(query)")
        let place = try await press(doors, letter.link).headers.first(name: "location") ?? ""
        #expect(place.hasPrefix(expected), "\(asked) led to \(place)")
      }
    }
  }

  @Test(arguments: engines) func withoutAnAppToGoBackToALinkConfirmsAndOpensNothing(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let letter = try await ask(doors, "bob@example.com")
      #expect(letter.link.isEmpty && letter.code.count == 6)
      _ = try await doors.signUp("alice")
      let sessions = try await doors.count("session")
      let confirmation = try await doors.letter(to: "alice@example.com")
      let statuses = try await atOnce(20) { _ in try await press(doors, confirmation.link).status }
      #expect(statuses.filter { $0 == 200 }.count == 1 && statuses.filter { $0 == 410 }.count == 19)
      #expect(try await doors.count("identity where issuer = 'email' and is_email_verified") == 1)
      #expect(try await doors.count("session") == sessions)
    }
  }

  @Test(arguments: engines) func anAddressThatWasOnlyClaimedGoesToWhoeverVerifiesIt(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let claimed = try await doors.signUp("alice")
      let confirmation = try await doors.letter(to: "alice@example.com")
      let letter = try await ask(doors, "alice@example.com")
      let verified = try await doors.gateway.post(
        "/auth/v1/verify", ["type": "email", "email": "alice@example.com", "token": letter.code])
      #expect(verified.status == 200)
      let owner = try #require((verified["user"] as? [String: Any])?["id"] as? String)
      #expect(owner != (claimed["user"] as? [String: Any])?["uuid"] as? String)
      // The password that was chosen by whoever claimed it opens nothing of the owner's.
      let signIn = ["email": "alice@example.com", "password": "correct horse"]
      #expect(try await doors.gateway.post("/api/v1/auth/sign_in", signIn).status == 401)
      // An old mail does not take the address back.
      _ = try await press(doors, confirmation.link)
      let again = try await ask(doors, "alice@example.com")
      let back = try await doors.gateway.post(
        "/auth/v1/verify", ["type": "email", "email": "alice@example.com", "token": again.code])
      #expect((back["user"] as? [String: Any])?["id"] as? String == owner)
    }
  }

  @Test(arguments: engines) func whoSignsUpConfirmsByTheMailThatCame(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let alice = try await doors.signUp("alice")
      let letter = try await doors.letter(to: "alice@example.com")
      let confirmed = try await doors.gateway.bearing(alice.string("token")).post(
        "/auth/v1/verify", ["type": "signup", "email": "alice@example.com", "token": letter.code])
      #expect(confirmed.status == 200)
      let user = try #require(confirmed["user"] as? [String: Any])
      #expect(user["id"] as? String == (alice["user"] as? [String: Any])?["uuid"] as? String)
      #expect(user["email_confirmed_at"] is String)
      let signIn = ["email": "alice@example.com", "password": "correct horse"]
      #expect(try await doors.gateway.post("/api/v1/auth/sign_in", signIn).status == 200)
    }
  }

  @Test(arguments: engines) func mailsAreCountedAndWhoWantsNoNewAccountMakesNone(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      for _ in 0..<5 { _ = try await ask(doors, "alice@example.com") }
      #expect(try await doors.gateway.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 429)
      let stranger: [String: any Sendable] = ["email": "nobody@example.com", "create_user": false]
      #expect(try await doors.gateway.post("/auth/v1/otp", stranger).status == 200)
      #expect(try await doors.gateway.post("/auth/v1/recover", ["email": "nobody@example.com"]).status == 200)
      try await Task.sleep(for: .milliseconds(300))
      #expect(doors.letters(to: "nobody@example.com") == 0)
    }
  }

  @Test(arguments: engines) func aMailThatCannotBeSentNowIsSentLaterAndTheSameOne(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      doors.mail.next(.says("451 4.3.0 later", to: "RCPT"), times: 2)
      #expect(try await doors.gateway.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 200)
      try await eventually("the letter", passing: .seconds(5), on: doors.stack.clock) {
        try await doors.count("outbox where lease is not null")
      } _: {
        doors.letters(to: "alice@example.com") == 1
      }
      // Noted a moment after the server has taken it.
      try await eventually {
        try await doors.count("outbox where outcome = 'done' and tries = 3 and content is null") == 1
      }
    }
  }
}
