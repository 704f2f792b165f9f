import Database
import Foundation
import Support
import Testing

/// Which account gets a claimed address when its confirmation mail is answered.
@Suite struct EmailConfirmationTests {
  typealias Session = SupabaseSwift.Session

  /// Mallory has signed up with the victim's address.
  private func claimVictimsAddress(_ auth: AuthFixture) async throws -> (
    app: SupabaseApp, session: Session, mail: (code: String, link: String)
  ) {
    let app = SupabaseApp(auth.gateway)
    let session = try await app.signUp("victim", data: ["note": "planted"])
    return (app.signedIn(session), session, try await auth.receivedMail(to: "victim@example.com"))
  }

  @Test(arguments: engines, ["signup", "email"])
  func whoAnswersWithoutASessionGetsAnAccountOfTheirOwn(engine: Engine, type: String) async throws {
    try await withAuthFixture(engine) { auth in
      let (mallory, claimer, mail) = try await claimVictimsAddress(auth)
      let body = ["type": type, "email": "victim@example.com", "token": mail.code]
      let victim = try await SupabaseApp(auth.gateway).call(.POST, "verify", body, as: Session.self)
      #expect(victim.user.id != claimer.user.id && victim.user.email == "victim@example.com")
      #expect(victim.user.emailConfirmedAt != nil && victim.user.userMetadata?["note"] == nil)
      // Neither the password nor the session of the claiming account is taken over.
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
    try await withAuthFixture(engine) { auth in
      let (alice, session, mail) = try await claimVictimsAddress(auth)
      let bob = SupabaseApp(auth.gateway)
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

  /// Another user's session does not confirm the address for the claiming account.
  @Test(arguments: engines) func anothersSessionDoesNotHelp(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let (_, claimer, mail) = try await claimVictimsAddress(auth)
      let app = SupabaseApp(auth.gateway)
      let bob = try await app.signUp("bob")
      let body = ["type": "signup", "email": "victim@example.com", "token": mail.code]
      let answered = try await app.signedIn(bob).call(.POST, "verify", body, as: Session.self)
      #expect(answered.user.id != claimer.user.id && answered.user.id != bob.user.id)
    }
  }

  @Test(arguments: engines, ["", "myapp://signed-in"])
  func aPressedLinkTakesTheAddressAway(engine: Engine, redirects: String) async throws {
    try await withAuthFixture(engine, ["AUTH_REDIRECTS": redirects]) { auth in
      let (mallory, claimer, mail) = try await claimVictimsAddress(auth)
      #expect(try await auth.submitLink(mail.link).status == (redirects.isEmpty ? 200 : 303))
      #expect(try await mallory.call(.GET, "user", as: SupabaseSwift.User.self).email == "")
      let password = ["email": "victim@example.com", "password": "correct horse"]
      #expect(try await mallory.refusal(.POST, "token?grant_type=password", password).code == "invalid_credentials")
      let hers = claimer.user.id.uuidString.lowercased()
      #expect(try await auth.count("identity where is_email_verified and account_id <> '\(hers)'") == 1)
    }
  }

  /// The page asks for the password that was chosen when signing up.
  @Test(arguments: engines) func whoKnowsThePasswordKeepsTheAccountByTheLink(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let (alice, session, mail) = try await claimVictimsAddress(auth)
      let page = try await auth.openLink(mail.link)
      #expect(page.status == 200 && page.text.contains("name=\"password\""))
      let wrong = try await auth.submitLink(mail.link, adding: "&password=wrong+horse")
      #expect(wrong.status == 403 && wrong.text.contains("not the password"))
      #expect(try await auth.count("identity where is_email_verified") == 0)
      #expect(try await auth.submitLink(mail.link, adding: "&password=correct+horse").status == 200)
      #expect(try await alice.call(.GET, "user", as: SupabaseSwift.User.self).emailConfirmedAt != nil)
      #expect(try await alice.signIn("victim@example.com", "correct horse").user.id == session.user.id)
      #expect(try await auth.submitLink(mail.link, adding: "&password=correct+horse").status == 410)
    }
  }

  @Test(arguments: engines) func aConfirmationIsSentOnceMoreToWhoWaitsForIt(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let (alice, session, first) = try await claimVictimsAddress(auth)
      let app = SupabaseApp(auth.gateway)
      for address in ["nobody@example.com", "victim@example.com"] {
        let body = ["type": "signup", "email": address]
        #expect(try await app.call(.POST, "resend", body, as: SupabaseSwift.Sent.self).messageId == nil)
      }
      let second = try await auth.receivedMail(to: "victim@example.com", after: 1)
      #expect(auth.mailCount(to: "nobody@example.com") == 0)
      // The first code is still valid: a new request does not invalidate earlier codes.
      let body = ["type": "signup", "email": "victim@example.com", "token": first.code]
      #expect(try await alice.call(.POST, "verify", body, as: Session.self).user.id == session.user.id)
      #expect(second.code.count == 6)
      // No confirmation is pending any more.
      _ = try await app.call(
        .POST, "resend", ["type": "signup", "email": "victim@example.com"], as: SupabaseSwift.Sent.self)
      _ = try await app.call(.POST, "otp", ["email": "victim@example.com"], as: SupabaseSwift.Sent.self)
      _ = try await auth.receivedMail(to: "victim@example.com", after: 2)
      #expect(auth.mailCount(to: "victim@example.com") == 3, "two confirmations, and one to sign in")
    }
  }
}
