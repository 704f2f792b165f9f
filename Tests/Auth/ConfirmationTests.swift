import Database
import Foundation
import Support
import Testing

/// Who gets an address that somebody has claimed, when the mail about it is answered.
@Suite struct ConfirmationTests {
  typealias Session = SupabaseSwift.Session

  /// Mallory has signed up with the victim's address.
  private func claimed(_ doors: Doors) async throws -> (
    app: SupabaseApp, session: Session, mail: (code: String, link: String)
  ) {
    let app = SupabaseApp(doors.gateway)
    let session = try await app.signUp("victim", data: ["note": "planted"])
    return (app.signedIn(session), session, try await doors.letter(to: "victim@example.com"))
  }

  private func press(_ doors: Doors, _ link: String, _ more: String = "") async throws -> Browser.Reply {
    let token = link.components(separatedBy: "token_hash=").last ?? ""
    return try await doors.gateway.with(["Content-Type": "application/x-www-form-urlencoded"])
      .send(.POST, "/auth/v1/verify", body: Data("token_hash=\(token)\(more)".utf8))
  }

  @Test(arguments: engines, ["signup", "email"])
  func whoAnswersWithoutASessionGetsAnAccountOfTheirOwn(engine: Engine, type: String) async throws {
    try await withDoors(engine) { doors in
      let (mallory, claimer, mail) = try await claimed(doors)
      let body = ["type": type, "email": "victim@example.com", "token": mail.code]
      let victim = try await SupabaseApp(doors.gateway).call(.POST, "verify", body, as: Session.self)
      #expect(victim.user.id != claimer.user.id && victim.user.email == "victim@example.com")
      #expect(victim.user.emailConfirmedAt != nil && victim.user.userMetadata?["note"] == nil)
      // Neither password nor session comes with it.
      let password = ["email": "victim@example.com", "password": "correct horse"]
      #expect(try await mallory.refusal(.POST, "token?grant_type=password", password).code == "invalid_credentials")
      let hers = try await mallory.call(.GET, "user", as: SupabaseSwift.User.self)
      #expect(hers.id == claimer.user.id && hers.email == "" && hers.identities?.isEmpty == true)
      let refresh = ["refresh_token": claimer.refreshToken]
      let refreshed = try await mallory.call(.POST, "token?grant_type=refresh_token", refresh, as: Session.self)
      #expect(refreshed.user.id == claimer.user.id)
    }
  }

  @Test(arguments: engines) func withItsSessionTheAccountStaysAsItIs(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let (alice, session, mail) = try await claimed(doors)
      let bob = SupabaseApp(doors.gateway)
      let stranger = bob.signedIn(try await bob.signUp("bob"))
      let body = ["type": "signup", "email": "victim@example.com", "token": mail.code]
      let wrong = body.merging(["token": mail.code == "000000" ? "000001" : "000000"]) { $1 }
      #expect(try await stranger.refusal(.POST, "verify", wrong).code == "otp_expired")
      let confirmed = try await alice.call(.POST, "verify", body, as: Session.self)
      #expect(confirmed.user.id == session.user.id && confirmed.user.emailConfirmedAt != nil)
      let back = try await bob.signIn("victim@example.com", "correct horse")
      #expect(back.user.id == session.user.id)
      #expect(try await alice.refusal(.POST, "verify", body).code == "otp_expired")
    }
  }

  /// Somebody else's session is none of that account.
  @Test(arguments: engines) func anothersSessionDoesNotHelp(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let (_, claimer, mail) = try await claimed(doors)
      let app = SupabaseApp(doors.gateway)
      let bob = try await app.signUp("bob")
      let body = ["type": "signup", "email": "victim@example.com", "token": mail.code]
      let answered = try await app.signedIn(bob).call(.POST, "verify", body, as: Session.self)
      #expect(answered.user.id != claimer.user.id && answered.user.id != bob.user.id)
    }
  }

  @Test(arguments: engines, ["", "myapp://signed-in"])
  func aPressedLinkTakesTheAddressAway(engine: Engine, redirects: String) async throws {
    try await withDoors(engine, ["AUTH_REDIRECTS": redirects]) { doors in
      let (mallory, claimer, mail) = try await claimed(doors)
      #expect(try await press(doors, mail.link).status == (redirects.isEmpty ? 200 : 303))
      #expect(try await mallory.call(.GET, "user", as: SupabaseSwift.User.self).email == "")
      let password = ["email": "victim@example.com", "password": "correct horse"]
      #expect(try await mallory.refusal(.POST, "token?grant_type=password", password).code == "invalid_credentials")
      let hers = claimer.user.id.uuidString.lowercased()
      #expect(try await doors.count("identity where is_email_verified and account_id <> '\(hers)'") == 1)
    }
  }

  /// Whoever has signed up knows the password: the page asks for it.
  @Test(arguments: engines) func whoKnowsThePasswordKeepsTheAccountByTheLink(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let (alice, session, mail) = try await claimed(doors)
      let page = try await doors.gateway.get(String(mail.link.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }))
      #expect(page.status == 200 && page.text.contains("name=\"password\""))
      let wrong = try await press(doors, mail.link, "&password=wrong+horse")
      #expect(wrong.status == 403 && wrong.text.contains("not the password"))
      #expect(try await doors.count("identity where is_email_verified") == 0)
      #expect(try await press(doors, mail.link, "&password=correct+horse").status == 200)
      #expect(try await alice.call(.GET, "user", as: SupabaseSwift.User.self).emailConfirmedAt != nil)
      #expect(try await alice.signIn("victim@example.com", "correct horse").user.id == session.user.id)
      #expect(try await press(doors, mail.link, "&password=correct+horse").status == 410)
    }
  }

  @Test(arguments: engines) func aConfirmationIsSentOnceMoreToWhoWaitsForIt(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let (alice, session, first) = try await claimed(doors)
      let app = SupabaseApp(doors.gateway)
      for address in ["nobody@example.com", "victim@example.com"] {
        let body = ["type": "signup", "email": address]
        #expect(try await app.call(.POST, "resend", body, as: SupabaseSwift.Sent.self).messageId == nil)
      }
      let second = try await doors.letter(to: "victim@example.com", after: 1)
      #expect(doors.letters(to: "nobody@example.com") == 0)
      // The first is as good as the second: whoever has asked for that makes no other useless.
      let body = ["type": "signup", "email": "victim@example.com", "token": first.code]
      #expect(try await alice.call(.POST, "verify", body, as: Session.self).user.id == session.user.id)
      #expect(second.code.count == 6)
      // Nothing is waited for any more.
      _ = try await app.call(
        .POST, "resend", ["type": "signup", "email": "victim@example.com"], as: SupabaseSwift.Sent.self)
      _ = try await app.call(.POST, "otp", ["email": "victim@example.com"], as: SupabaseSwift.Sent.self)
      _ = try await doors.letter(to: "victim@example.com", after: 2)
      #expect(doors.letters(to: "victim@example.com") == 3, "two confirmations, and one to sign in")
    }
  }
}
