import Crypto
import Database
import Foundation
import Support
import Testing
import Tokens

/// Links that only the app which asked for them can use (RFC 7636).
@Suite struct PKCETests {
  typealias Session = SupabaseSwift.Session

  private static let verifier = "a-verifier-that-only-the-app-knows-0123456789-0123456789"
  private static let challenge: [String: any Sendable] = [
    "code_challenge": Base64URL.encode(SHA256.hash(data: Data(verifier.utf8))), "code_challenge_method": "s256",
  ]

  /// The URL to which the form of a mailed link redirects; the status when it does not.
  private func redirect(_ auth: AuthFixture, _ link: String) async throws -> String {
    let reply = try await auth.submitLink(link)
    return reply.status == 303 ? reply.headers.first(name: "location") ?? "" : "\(reply.status)"
  }

  private func code(_ place: String) -> String { place.components(separatedBy: "code=").last ?? "" }

  private func exchange(
    _ app: SupabaseApp, _ code: String, verifier: String = PKCETests.verifier
  ) async throws -> Session {
    let body = ["auth_code": code, "code_verifier": verifier]
    return try await app.call(.POST, "token?grant_type=pkce", body, as: Session.self)
  }

  private func withApp(_ engine: Engine, _ body: (AuthFixture, SupabaseApp) async throws -> Void) async throws {
    try await withAuthFixture(engine, ["AUTH_REDIRECTS": "myapp://signed-in,https://app.example/back"]) { auth in
      try await body(auth, SupabaseApp(auth.gateway))
    }
  }

  @Test(arguments: engines, ["otp", "magiclink", "recover"])
  func aLinkGivesTheAppACodeThatItExchangesOnce(engine: Engine, path: String) async throws {
    try await withApp(engine) { auth, app in
      if path == "recover" { _ = try await app.signUp("alice") }
      let before = auth.mailCount(to: "alice@example.com")
      if path == "recover" { _ = try await auth.receivedMail(to: "alice@example.com") }
      let asked = Self.challenge.merging(["email": "alice@example.com"]) { $1 }
      let query = "redirect_to=https%3A%2F%2Fapp.example%2Fback%3Fa%3Db"
      _ = try await app.call(.POST, "\(path)?\(query)", asked, as: SupabaseSwift.Sent.self)
      let sessions = try await auth.count("session")
      let message = try await auth.receivedMail(to: "alice@example.com", after: max(before, path == "recover" ? 1 : 0))
      let place = try await redirect(auth, message.link)
      #expect(place.hasPrefix("https://app.example/back?a=b&code="), "\(place)")
      // Submitting the link opens no session: without the app's verifier, the code cannot be exchanged.
      #expect(try await auth.count("session") == sessions)
      #expect(try await redirect(auth, message.link) == "410")
      for (code, verifier, status, words) in [
        (code(place), "another verifier", 400, "bad_code_verifier"),
        ("none", Self.verifier, 404, "flow_state_not_found"),
        (code(message.link), Self.verifier, 404, "flow_state_not_found"),
      ] {
        let body = ["auth_code": code, "code_verifier": verifier]
        let refusal = try await app.refusal(.POST, "token?grant_type=pkce", body)
        #expect(refusal.status == status && refusal.code == words)
      }
      let outcomes = try await atOnce(10) { _ in try? await exchange(app, code(place)).user.email }
      #expect(outcomes.compactMap { $0 } == ["alice@example.com"])
      let late = try await app.refusal(
        .POST, "token?grant_type=pkce", ["auth_code": code(place), "code_verifier": Self.verifier])
      #expect(late.code == "flow_state_not_found")
    }
  }

  @Test(arguments: engines) func aCodeIsGoodForFiveMinutesAndFiveTries(engine: Engine) async throws {
    try await withApp(engine) { auth, app in
      for (index, isLate) in [true, false].enumerated() {
        let asked = Self.challenge.merging(["email": "alice@example.com"]) { $1 }
        _ = try await app.call(.POST, "otp", asked, as: SupabaseSwift.Sent.self)
        let place = try await redirect(auth, try await auth.receivedMail(to: "alice@example.com", after: index).link)
        #expect(place.hasPrefix("myapp://signed-in?code="), "\(place)")
        if isLate {
          auth.stack.clock.advance(by: .seconds(301))
        } else {
          for _ in 0..<5 {
            let body = ["auth_code": code(place), "code_verifier": "wrong"]
            #expect(try await app.refusal(.POST, "token?grant_type=pkce", body).status >= 400)
          }
        }
        await #expect(throws: SupabaseSwift.APIError.self) { _ = try await exchange(app, code(place)) }
      }
    }
  }

  /// The app that signed up also confirms: password and account are kept.
  @Test(arguments: engines) func theAppThatSignedUpConfirmsItsAccount(engine: Engine) async throws {
    try await withApp(engine) { auth, app in
      let body = Self.challenge.merging(["email": "alice@example.com", "password": "correct horse"]) { $1 }
      let session = try await app.call(.POST, "signup?redirect_to=myapp%3A%2F%2Fsigned-in", body, as: Session.self)
      #expect(session.user.emailConfirmedAt == nil)
      let place = try await redirect(auth, try await auth.receivedMail(to: "alice@example.com").link)
      #expect(try await auth.count("identity where is_email_verified") == 0)
      let confirmed = try await exchange(app, code(place))
      #expect(confirmed.user.id == session.user.id && confirmed.user.emailConfirmedAt != nil)
      #expect(try await app.signIn("alice@example.com", "correct horse").user.id == session.user.id)
    }
  }

  @Test(arguments: engines) func aNewAddressIsTakenByTheAppThatAskedForIt(engine: Engine) async throws {
    try await withApp(engine) { auth, app in
      let session = try await app.signUp("alice")
      let asked = Self.challenge.merging(["email": "new@example.com"]) { $1 }
      _ = try await app.signedIn(session).call(.PUT, "user", asked, as: SupabaseSwift.User.self)
      let message = try await auth.receivedMail(to: "new@example.com")
      let page = try await auth.openLink(message.link)
      #expect(page.status == 200 && page.text.contains("Use this address"))
      // The link's token alone does not sign in.
      let token = AuthFixture.token(of: message.link)
      let direct = ["type": "email_change", "token_hash": token]
      #expect(try await app.refusal(.POST, "verify", direct).code == "otp_expired")
      let place = try await redirect(auth, message.link)
      let changed = try await exchange(app, code(place))
      #expect(changed.user.id == session.user.id && changed.user.email == "new@example.com")
    }
  }

  @Test func onlyASHA256IsTaken() async throws {
    try await withApp(.sqlite) { _, app in
      let challenge = Self.challenge["code_challenge"] ?? ""
      let wrong: [[String: any Sendable]] = [
        ["code_challenge": challenge, "code_challenge_method": "plain"], ["code_challenge": challenge],
        ["code_challenge": "too short", "code_challenge_method": "s256"],
      ]
      for body in wrong {
        let refusal = try await app.refusal(.POST, "otp", body.merging(["email": "alice@example.com"]) { $1 })
        #expect(refusal.status == 400 && refusal.code == "validation_failed")
      }
      for body in [["auth_code": "a"], ["code_verifier": "a"]] {
        #expect(try await app.refusal(.POST, "token?grant_type=pkce", body).code == "validation_failed")
      }
    }
  }
}
