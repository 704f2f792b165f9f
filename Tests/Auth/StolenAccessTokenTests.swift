import Database
import Foundation
import Support
import Testing
import Wire

@testable import Auth

/// What is not possible with a stolen access token alone.
@Suite struct StolenAccessTokenTests {
  typealias Session = SupabaseSwift.Session
  typealias User = SupabaseSwift.User

  // MARK: Pending changes end with the sessions

  /// Mallory, with Alice's bearer, asks for an address of her own.
  private func requestAddressChange(
    _ auth: AuthFixture
  ) async throws -> (app: SupabaseApp, alice: SupabaseApp, answer: [String: String]) {
    let app = SupabaseApp(auth.gateway)
    let alice = app.signedIn(try await app.signUp("alice"))
    _ = try await auth.receivedMail(to: "alice@example.com")
    _ = try await alice.call(.PUT, "user", ["email": "mallory@example.com"], as: User.self)
    let code = try await auth.receivedMail(to: "mallory@example.com").code
    return (app, alice, ["type": "email_change", "email": "mallory@example.com", "token": code])
  }

  @Test(arguments: engines, ["reset", "recovery", "password", "global", "others", "reuse", "deletion"])
  func aPendingAddressEndsWithTheSessions(engine: Engine, by way: String) async throws {
    try await withAuthFixture(engine) { auth in
      let (app, alice, answer) = try await requestAddressChange(auth)
      switch way {
      case "reset", "recovery":
        _ = try await auth.gateway.post("/api/v1/auth/password", ["email": "alice@example.com"])
        let code = try await auth.receivedMail(to: "alice@example.com", after: 1).code
        if way == "reset" {
          let body = ["email": "alice@example.com", "token": code, "password": "a new horse"]
          #expect(try await auth.gateway.send(.PUT, "/api/v1/auth/password", json: body).status == 200)
        } else {
          let body = ["type": "recovery", "email": "alice@example.com", "token": code]
          _ = try await app.call(.POST, "verify", body, as: Session.self)
        }
      case "password": _ = try await alice.call(.PUT, "user", ["password": "a new horse"], as: User.self)
      case "reuse":
        let session = try await app.signIn("alice@example.com", "correct horse")
        let body = ["refresh_token": session.refreshToken]
        _ = try await app.call(.POST, "token?grant_type=refresh_token", body, as: Session.self)
        auth.stack.clock.advance(by: .seconds(11))
        #expect(try await app.send(.POST, "token?grant_type=refresh_token", body).status == 401)
      case "deletion":
        let bearer = try #require(alice.access)
        #expect(try await auth.gateway.bearing(bearer).delete("/api/v1/auth/account").status == 200)
        _ = try await app.signIn("alice@example.com", "correct horse")
      default: _ = try await alice.call(.POST, "logout?scope=\(way)", as: SupabaseSwift.EmptyBody.self)
      }
      #expect(try await app.refusal(.POST, "verify", answer).code == "otp_expired")
      // It cannot be resent either.
      let again = ["type": "email_change", "email": "mallory@example.com"]
      _ = try await app.call(.POST, "resend", again, as: SupabaseSwift.Sent.self)
      #expect(try await auth.count("new_email") == 0)
      #expect(try await auth.count("identity where subject = 'mallory@example.com'") == 0)
    }
  }

  @Test(arguments: engines) func anAddressThatIsAskedForWithThePasswordIsNotWithdrawnByIt(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let session = try await app.signUp("alice")
      let both: [String: any Sendable] = ["email": "new@example.com", "password": "another horse"]
      let asked = try await app.signedIn(session).call(.PUT, "user", both, as: User.self)
      #expect(asked.newEmail == "new@example.com")
      let code = try await auth.receivedMail(to: "new@example.com").code
      let body = ["type": "email_change", "email": "new@example.com", "token": code]
      #expect(try await app.call(.POST, "verify", body, as: Session.self).user.id == session.user.id)
      #expect(try await app.signIn("new@example.com", "another horse").user.id == session.user.id)
    }
  }

  // MARK: No session becomes recent again

  @Test(arguments: engines, ["apple", "address", "address without a bearer"])
  func whatABearerOpensIsNoSignIn(engine: Engine, by way: String) async throws {
    try await withAuthFixture(engine, ["JWT_ACCESS_EXPIRE_MINUTES": "1440"]) { auth in
      let app = SupabaseApp(auth.gateway)
      let first = try await app.signUp("alice")
      auth.stack.clock.advance(by: .seconds(24 * 3600 + 1))
      let refreshed = try await app.call(
        .POST, "token?grant_type=refresh_token", ["refresh_token": first.refreshToken], as: Session.self)
      let alice = app.signedIn(refreshed)
      let opened: Session
      if way == "apple" {
        let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now)
        let link: [String: any Sendable] = ["provider": "apple", "id_token": token, "link_identity": true]
        opened = try await alice.call(.POST, "token?grant_type=id_token", link, as: Session.self)
      } else {
        _ = try await alice.call(.PUT, "user", ["email": "new@example.com"], as: User.self)
        let code = try await auth.receivedMail(to: "new@example.com").code
        let body = ["type": "email_change", "email": "new@example.com", "token": code]
        opened = try await (way == "address" ? alice : app).call(.POST, "verify", body, as: Session.self)
      }
      #expect(opened.user.id == first.user.id)
      let refusal = try await app.signedIn(opened).refusal(.PUT, "user", ["password": "another horse"])
      #expect(refusal.code == "reauthentication_needed")
      // A new sign-in with the password may change it at once.
      let address = way == "apple" ? "alice@example.com" : "new@example.com"
      let signedIn = app.signedIn(try await app.signIn(address, "correct horse"))
      _ = try await signedIn.call(.PUT, "user", ["password": "another horse"], as: User.self)
    }
  }

  // MARK: The password cannot be guessed

  @Test(arguments: engines) func guessingBehindABearerIsStopped(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let alice = app.signedIn(try await app.signUp("alice"))
      // The request is invalid in any case, so that only a refusal of the password would reveal something.
      let much = ["much": String(repeating: "x", count: 20_000)]
      for index in 0..<10 {
        let guess: [String: any Sendable] = ["password": "guess \(index) horse", "data": much]
        #expect(try await alice.refusal(.PUT, "user", guess).code == "validation_failed")
      }
      let right: [String: any Sendable] = ["password": "correct horse", "data": much]
      #expect(try await alice.refusal(.PUT, "user", right).status == 429)
      let bearer = auth.gateway.bearing(try #require(alice.access))
      let body = ["current_password": "correct horse", "password": "another horse"]
      #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: body).status == 429)
      auth.stack.clock.advance(by: .seconds(901))
      let wrong = body.merging(["current_password": "wrong horse"]) { $1 }
      for _ in 0..<9 {
        #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: wrong).status == 422)
      }
      // A correct password does not count as a try.
      #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: body).status == 200)
      #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: wrong).status == 422)
      #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: wrong).status == 429)
    }
  }

  @Test(arguments: engines) func changingItOftenIsNoGuessing(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let alice = app.signedIn(try await app.signUp("alice"))
      for index in 0..<12 { _ = try await alice.call(.PUT, "user", ["password": "horse no. \(index)"], as: User.self) }
    }
  }

  // MARK: The text of the mail

  @Test func aMailThatAsksOnceMoreSaysWhatFor() throws {
    let address = try #require(EmailAddress("alice@example.com"))
    let mail = CodeMail(address: address.text, kind: .reauthentication, code: "123456", link: nil)
    let message = mail.message(to: address, app: "Kith", id: UUID())
    #expect(message.text.contains("to change your password: 123456") && !message.text.contains("sign in"))
    #expect(message.html?.contains("to change your password") == true)
  }
}
