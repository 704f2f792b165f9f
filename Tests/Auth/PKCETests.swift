import Crypto
import Database
import Foundation
import Support
import Testing
import Tokens

/// Links that only the app which has asked for them can use (RFC 7636).
@Suite struct PKCETests {
  typealias Session = SupabaseSwift.Session

  private static let verifier = "a-verifier-that-only-the-app-knows-0123456789-0123456789"
  private static let challenge: [String: any Sendable] = [
    "code_challenge": Base64URL.encode(SHA256.hash(data: Data(verifier.utf8))), "code_challenge_method": "s256",
  ]

  private func press(_ doors: Doors, _ link: String) async throws -> String {
    let token = link.components(separatedBy: "token_hash=").last ?? ""
    let reply = try await doors.gateway.with(["Content-Type": "application/x-www-form-urlencoded"])
      .send(.POST, "/auth/v1/verify", body: Data("token_hash=\(token)".utf8))
    return reply.status == 303 ? reply.headers.first(name: "location") ?? "" : "\(reply.status)"
  }

  private func code(_ place: String) -> String { place.components(separatedBy: "code=").last ?? "" }

  private func exchange(
    _ app: SupabaseApp, _ code: String, verifier: String = PKCETests.verifier
  ) async throws -> Session {
    let body = ["auth_code": code, "code_verifier": verifier]
    return try await app.call(.POST, "token?grant_type=pkce", body, as: Session.self)
  }

  private func withApp(_ engine: Engine, _ body: (Doors, SupabaseApp) async throws -> Void) async throws {
    try await withDoors(engine, ["AUTH_REDIRECTS": "myapp://signed-in,https://app.example/back"]) { doors in
      try await body(doors, SupabaseApp(doors.gateway))
    }
  }

  @Test(arguments: engines, ["otp", "magiclink", "recover"])
  func aLinkGivesTheAppACodeThatItExchangesOnce(engine: Engine, path: String) async throws {
    try await withApp(engine) { doors, app in
      if path == "recover" { _ = try await app.signUp("alice") }
      let before = doors.letters(to: "alice@example.com")
      if path == "recover" { _ = try await doors.letter(to: "alice@example.com") }
      let asked = Self.challenge.merging(["email": "alice@example.com"]) { $1 }
      let query = "redirect_to=https%3A%2F%2Fapp.example%2Fback%3Fa%3Db"
      _ = try await app.call(.POST, "\(path)?\(query)", asked, as: SupabaseSwift.Sent.self)
      let sessions = try await doors.count("session")
      let letter = try await doors.letter(to: "alice@example.com", after: max(before, path == "recover" ? 1 : 0))
      let place = try await press(doors, letter.link)
      #expect(place.hasPrefix("https://app.example/back?a=b&code="), "\(place)")
      // Who presses has opened nothing: a reader of the mail who is not that app gets nowhere with it.
      #expect(try await doors.count("session") == sessions)
      #expect(try await press(doors, letter.link) == "410")
      for (code, verifier, status, words) in [
        (code(place), "another verifier", 400, "bad_code_verifier"),
        ("none", Self.verifier, 404, "flow_state_not_found"),
        (code(letter.link), Self.verifier, 404, "flow_state_not_found"),
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
    try await withApp(engine) { doors, app in
      for (index, isLate) in [true, false].enumerated() {
        let asked = Self.challenge.merging(["email": "alice@example.com"]) { $1 }
        _ = try await app.call(.POST, "otp", asked, as: SupabaseSwift.Sent.self)
        let place = try await press(doors, try await doors.letter(to: "alice@example.com", after: index).link)
        #expect(place.hasPrefix("myapp://signed-in?code="), "\(place)")
        if isLate {
          doors.stack.clock.advance(by: .seconds(301))
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

  /// The app that has signed up is the one that confirms: password and account stay.
  @Test(arguments: engines) func theAppThatSignedUpConfirmsItsAccount(engine: Engine) async throws {
    try await withApp(engine) { doors, app in
      let body = Self.challenge.merging(["email": "alice@example.com", "password": "correct horse"]) { $1 }
      let session = try await app.call(.POST, "signup?redirect_to=myapp%3A%2F%2Fsigned-in", body, as: Session.self)
      #expect(session.user.emailConfirmedAt == nil)
      let place = try await press(doors, try await doors.letter(to: "alice@example.com").link)
      #expect(try await doors.count("identity where is_email_verified") == 0)
      let confirmed = try await exchange(app, code(place))
      #expect(confirmed.user.id == session.user.id && confirmed.user.emailConfirmedAt != nil)
      #expect(try await app.signIn("alice@example.com", "correct horse").user.id == session.user.id)
    }
  }

  @Test(arguments: engines) func aNewAddressIsTakenByTheAppThatAskedForIt(engine: Engine) async throws {
    try await withApp(engine) { doors, app in
      let session = try await app.signUp("alice")
      let asked = Self.challenge.merging(["email": "new@example.com"]) { $1 }
      _ = try await app.signedIn(session).call(.PUT, "user", asked, as: SupabaseSwift.User.self)
      let letter = try await doors.letter(to: "new@example.com")
      let page = try await doors.gateway.get(String(letter.link.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }))
      #expect(page.status == 200 && page.text.contains("Use this address"))
      // The link's token alone signs nobody in.
      let token = letter.link.components(separatedBy: "token_hash=").last ?? ""
      let direct = ["type": "email_change", "token_hash": token]
      #expect(try await app.refusal(.POST, "verify", direct).code == "otp_expired")
      let place = try await press(doors, letter.link)
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
