import Crypto
import Database
import Foundation
import Support
import Testing
import Tokens

/// Requests for a mail to an address that an account has claimed and not confirmed.
@Suite struct ClaimedAddressTests {
  typealias Session = SupabaseSwift.Session

  private static let challenge: [String: any Sendable] = [
    "code_challenge": Base64URL.encode(SHA256.hash(data: Data("a stranger's verifier".utf8))),
    "code_challenge_method": "s256",
  ]

  @Test(arguments: engines) func whoWantsNoNewAccountIsSentNothingForAnAddressThatIsOnlyClaimed(
    engine: Engine
  ) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let session = try await app.signUp("alice")
      _ = try await auth.receivedMail(to: "alice@example.com")
      let body: [String: any Sendable] = ["email": "alice@example.com", "create_user": false]
      let bob = app.signedIn(try await app.signUp("bob"))
      for stranger in [app, bob] { _ = try await stranger.call(.POST, "otp", body, as: SupabaseSwift.Sent.self) }
      #expect(try await auth.count("outbox where kind = 'mail_withheld'") == 2)
      // The user who claimed it is sent a mail that confirms it.
      let alice = app.signedIn(session)
      _ = try await alice.call(.POST, "otp", body, as: SupabaseSwift.Sent.self)
      let code = try await auth.receivedMail(to: "alice@example.com", after: 1).code
      #expect(auth.mailCount(to: "alice@example.com") == 2)
      let answer = ["type": "email", "email": "alice@example.com", "token": code]
      let confirmed = try await alice.call(.POST, "verify", answer, as: Session.self)
      #expect(confirmed.user.id == session.user.id && confirmed.user.emailConfirmedAt != nil)
      // From then on anybody may request a code, and the reader of the mail signs in.
      _ = try await app.call(.POST, "otp", body, as: SupabaseSwift.Sent.self)
      let next = try await auth.receivedMail(to: "alice@example.com", after: 2).code
      let back = try await app.call(.POST, "verify", answer.merging(["token": next]) { $1 }, as: Session.self)
      #expect(back.user.id == session.user.id)
    }
  }

  /// A link that redirects to the app which asked requires no password.
  @Test(arguments: engines) func aStrangersChallengeIsNotTakenOver(engine: Engine) async throws {
    try await withAuthFixture(engine, ["AUTH_REDIRECTS": "myapp://signed-in"]) { auth in
      let app = SupabaseApp(auth.gateway)
      let session = try await app.signUp("alice")
      _ = try await auth.receivedMail(to: "alice@example.com")
      let body = Self.challenge.merging(["type": "signup", "email": "alice@example.com"]) { $1 }
      for (count, (asking, asksForPassword)) in [(app, true), (app.signedIn(session), false)].enumerated() {
        _ = try await asking.call(.POST, "resend", body, as: SupabaseSwift.Sent.self)
        let link = try await auth.receivedMail(to: "alice@example.com", after: count + 1).link
        let page = try await auth.openLink(link)
        #expect(page.status == 200 && page.text.contains("name=\"password\"") == asksForPassword)
      }
    }
  }

  /// A recovery signs in to the same account through every API, without the password and the sessions of the claiming
  /// user.
  @Test(arguments: engines) func aRecoveredAccountIsTheReadersWithoutItsSessions(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let claimer = try await app.signUp("victim")
      _ = try await auth.receivedMail(to: "victim@example.com")
      _ = try await app.call(.POST, "recover", ["email": "victim@example.com"], as: SupabaseSwift.EmptyBody.self)
      let code = try await auth.receivedMail(to: "victim@example.com", after: 1).code
      let body = ["type": "recovery", "email": "victim@example.com", "token": code]
      let victim = try await app.call(.POST, "verify", body, as: Session.self)
      #expect(victim.user.id == claimer.user.id && victim.user.emailConfirmedAt != nil)
      let refresh = ["refresh_token": claimer.refreshToken]
      let refused = try await app.refusal(.POST, "token?grant_type=refresh_token", refresh)
      #expect(refused.code == "refresh_token_not_found")
      let password = ["email": "victim@example.com", "password": "correct horse"]
      #expect(try await app.refusal(.POST, "token?grant_type=password", password).code == "invalid_credentials")
      _ = try await app.signedIn(victim).call(.PUT, "user", ["password": "my own horse"], as: SupabaseSwift.User.self)
      #expect(try await app.signIn("victim@example.com", "my own horse").user.id == claimer.user.id)
    }
  }

  /// Once the address is verified, a recovery alone removes neither password nor sessions.
  @Test(arguments: engines) func whoHasVerifiedItKeepsPasswordAndSessions(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let session = try await app.signUp("alice")
      let alice = app.signedIn(session)
      let confirmation = try await auth.receivedMail(to: "alice@example.com").code
      let confirmed = ["type": "signup", "email": "alice@example.com", "token": confirmation]
      _ = try await alice.call(.POST, "verify", confirmed, as: Session.self)
      _ = try await app.call(.POST, "recover", ["email": "alice@example.com"], as: SupabaseSwift.EmptyBody.self)
      let code = try await auth.receivedMail(to: "alice@example.com", after: 1).code
      let body = ["type": "recovery", "email": "alice@example.com", "token": code]
      #expect(try await app.call(.POST, "verify", body, as: Session.self).user.id == session.user.id)
      #expect(try await alice.call(.GET, "user", as: SupabaseSwift.User.self).id == session.user.id)
      #expect(try await app.signIn("alice@example.com", "correct horse").user.id == session.user.id)
    }
  }
}
