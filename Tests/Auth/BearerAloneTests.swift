import Database
import Foundation
import Support
import Testing
import Wire

@testable import Auth

/// What somebody who has got hold of an access token, and of nothing else, cannot do.
@Suite struct BearerAloneTests {
  typealias Session = SupabaseSwift.Session
  typealias User = SupabaseSwift.User

  // MARK: What was asked for ends with the sessions

  /// Mallory, under Alice's bearer, has asked for an address of her own.
  private func changing(_ doors: Doors) async throws -> (app: SupabaseApp, alice: SupabaseApp, answer: [String: String])
  {
    let app = SupabaseApp(doors.gateway)
    let alice = app.signedIn(try await app.signUp("alice"))
    _ = try await doors.letter(to: "alice@example.com")
    _ = try await alice.call(.PUT, "user", ["email": "mallory@example.com"], as: User.self)
    let code = try await doors.letter(to: "mallory@example.com").code
    return (app, alice, ["type": "email_change", "email": "mallory@example.com", "token": code])
  }

  @Test(arguments: engines, ["reset", "recovery", "password", "global", "others", "reuse", "deletion"])
  func aPendingAddressEndsWithTheSessions(engine: Engine, by way: String) async throws {
    try await withDoors(engine) { doors in
      let (app, alice, answer) = try await changing(doors)
      switch way {
      case "reset", "recovery":
        _ = try await doors.gateway.post("/api/v1/auth/password", ["email": "alice@example.com"])
        let code = try await doors.letter(to: "alice@example.com", after: 1).code
        if way == "reset" {
          let body = ["email": "alice@example.com", "token": code, "password": "a new horse"]
          #expect(try await doors.gateway.send(.PUT, "/api/v1/auth/password", json: body).status == 200)
        } else {
          let body = ["type": "recovery", "email": "alice@example.com", "token": code]
          _ = try await app.call(.POST, "verify", body, as: Session.self)
        }
      case "password": _ = try await alice.call(.PUT, "user", ["password": "a new horse"], as: User.self)
      case "reuse":
        let session = try await app.signIn("alice@example.com", "correct horse")
        let body = ["refresh_token": session.refreshToken]
        _ = try await app.call(.POST, "token?grant_type=refresh_token", body, as: Session.self)
        doors.stack.clock.advance(by: .seconds(11))
        #expect(try await app.send(.POST, "token?grant_type=refresh_token", body).status == 401)
      case "deletion":
        let bearer = try #require(alice.access)
        #expect(try await doors.gateway.bearing(bearer).delete("/api/v1/auth/account").status == 200)
        _ = try await app.signIn("alice@example.com", "correct horse")
      default: _ = try await alice.call(.POST, "logout?scope=\(way)", as: SupabaseSwift.Nothing.self)
      }
      #expect(try await app.refusal(.POST, "verify", answer).code == "otp_expired")
      // Nor can it be sent once more.
      let again = ["type": "email_change", "email": "mallory@example.com"]
      _ = try await app.call(.POST, "resend", again, as: SupabaseSwift.Sent.self)
      #expect(try await doors.count("new_email") == 0)
      #expect(try await doors.count("identity where subject = 'mallory@example.com'") == 0)
    }
  }

  @Test(arguments: engines) func anAddressThatIsAskedForWithThePasswordIsNotWithdrawnByIt(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let app = SupabaseApp(doors.gateway)
      let session = try await app.signUp("alice")
      let both: [String: any Sendable] = ["email": "new@example.com", "password": "another horse"]
      let asked = try await app.signedIn(session).call(.PUT, "user", both, as: User.self)
      #expect(asked.newEmail == "new@example.com")
      let code = try await doors.letter(to: "new@example.com").code
      let body = ["type": "email_change", "email": "new@example.com", "token": code]
      #expect(try await app.call(.POST, "verify", body, as: Session.self).user.id == session.user.id)
      #expect(try await app.signIn("new@example.com", "another horse").user.id == session.user.id)
    }
  }

  // MARK: No session becomes young again

  @Test(arguments: engines, ["apple", "address", "address without a bearer"])
  func whatABearerOpensIsNoSignIn(engine: Engine, by way: String) async throws {
    try await withDoors(engine, ["JWT_ACCESS_EXPIRE_MINUTES": "1440"]) { doors in
      let app = SupabaseApp(doors.gateway)
      let first = try await app.signUp("alice")
      doors.stack.clock.advance(by: .seconds(24 * 3600 + 1))
      let refreshed = try await app.call(
        .POST, "token?grant_type=refresh_token", ["refresh_token": first.refreshToken], as: Session.self)
      let alice = app.signedIn(refreshed)
      let opened: Session
      if way == "apple" {
        let token = try doors.stack.apple.identityToken(at: doors.stack.clock.now)
        let link: [String: any Sendable] = ["provider": "apple", "id_token": token, "link_identity": true]
        opened = try await alice.call(.POST, "token?grant_type=id_token", link, as: Session.self)
      } else {
        _ = try await alice.call(.PUT, "user", ["email": "new@example.com"], as: User.self)
        let code = try await doors.letter(to: "new@example.com").code
        let body = ["type": "email_change", "email": "new@example.com", "token": code]
        opened = try await (way == "address" ? alice : app).call(.POST, "verify", body, as: Session.self)
      }
      #expect(opened.user.id == first.user.id)
      let refusal = try await app.signedIn(opened).refusal(.PUT, "user", ["password": "another horse"])
      #expect(refusal.code == "reauthentication_needed")
      // Whoever knows the password signs in, and changes it at once.
      let address = way == "apple" ? "alice@example.com" : "new@example.com"
      let signedIn = app.signedIn(try await app.signIn(address, "correct horse"))
      _ = try await signedIn.call(.PUT, "user", ["password": "another horse"], as: User.self)
    }
  }

  // MARK: No password is guessed

  @Test(arguments: engines) func guessingBehindABearerIsStopped(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let app = SupabaseApp(doors.gateway)
      let alice = app.signedIn(try await app.signUp("alice"))
      // Refused as a whole, so that only the password's refusal would tell something.
      let much = ["much": String(repeating: "x", count: 20_000)]
      for index in 0..<10 {
        let guess: [String: any Sendable] = ["password": "guess \(index) horse", "data": much]
        #expect(try await alice.refusal(.PUT, "user", guess).code == "validation_failed")
      }
      let right: [String: any Sendable] = ["password": "correct horse", "data": much]
      #expect(try await alice.refusal(.PUT, "user", right).status == 429)
      let bearer = doors.gateway.bearing(try #require(alice.access))
      let body = ["current_password": "correct horse", "password": "another horse"]
      #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: body).status == 429)
      doors.stack.clock.advance(by: .seconds(901))
      let wrong = body.merging(["current_password": "wrong horse"]) { $1 }
      for _ in 0..<9 {
        #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: wrong).status == 422)
      }
      // What is right does not count.
      #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: body).status == 200)
      #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: wrong).status == 422)
      #expect(try await bearer.send(.PUT, "/api/v1/users/profile/password", json: wrong).status == 429)
    }
  }

  @Test(arguments: engines) func changingItOftenIsNoGuessing(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let app = SupabaseApp(doors.gateway)
      let alice = app.signedIn(try await app.signUp("alice"))
      for index in 0..<12 { _ = try await alice.call(.PUT, "user", ["password": "horse no. \(index)"], as: User.self) }
    }
  }

  // MARK: What the mail says

  @Test func aMailThatAsksOnceMoreSaysWhatFor() throws {
    let address = try #require(EmailAddress("alice@example.com"))
    let mail = CodeMail(address: address.text, kind: .reauthentication, code: "123456", link: nil)
    let letter = mail.letter(to: address, app: "Kith", id: UUID())
    #expect(letter.text.contains("to change your password: 123456") && !letter.text.contains("sign in"))
    #expect(letter.html?.contains("to change your password") == true)
  }
}
