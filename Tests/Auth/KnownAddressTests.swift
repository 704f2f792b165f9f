import Database
import Foundation
import Support
import Testing

/// Asking for a mail is the same work whether or not the address has an account, so that the time tells nobody.
@Suite struct KnownAddressTests {
  /// What auth has written down: challenges, messages by what is sent, and what was counted.
  private func written(_ doors: Doors) async throws -> [Int] {
    var counts: [Int] = []
    for table in ["challenge", "outbox", "quota"] { counts.append(try await doors.count(table)) }
    return counts
  }

  @Test(
    arguments: engines,
    [
      ("/api/v1/auth/password", [:]), ("/auth/v1/recover", [:]), ("/auth/v1/otp", ["create_user": false]),
    ] as [(String, [String: Bool])])
  func anUnknownAddressIsAsMuchWorkAsAKnownOne(engine: Engine, call: (path: String, more: [String: Bool])) async throws
  {
    try await withDoors(engine) { doors in
      let alice = doors.gateway.bearing(try await doors.signUp("alice").string("token"))
      // An address that is only claimed is nobody's yet.
      let code = try await doors.letter(to: "alice@example.com").code
      let confirmed = ["type": "signup", "email": "alice@example.com", "token": code]
      #expect(try await alice.post("/auth/v1/verify", confirmed).status == 200)
      @Sendable func ask(_ address: String) async throws -> [Int] {
        let before = try await written(doors)
        var body: [String: any Sendable] = ["email": address]
        for (name, value) in call.more { body[name] = value }
        #expect(try await doors.gateway.post(call.path, body).status == 200)
        return zip(try await written(doors), before).map { $0 - $1 }
      }
      // The place is counted from the first call on.
      _ = try await ask("somebody@example.com")
      #expect(try await ask("nobody@example.com") == [1, 1, 1])
      // Her own quota has begun with the mail of the sign-up.
      #expect(try await ask("alice@example.com") == [1, 1, 0])
      _ = try await doors.letter(to: "alice@example.com", after: 1)
      // What nobody is to have has been worked on, and went nowhere.
      try await eventually("the end") { try await doors.count("outbox where outcome = 'done'") == 4 }
      #expect(doors.letters(to: "nobody@example.com") == 0 && doors.letters(to: "somebody@example.com") == 0)
    }
  }

  @Test(arguments: engines) func signingInChangesNoPassword(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let signedUp = try await doors.signUp("alice")
      @Sendable func changed(_ token: String) async throws -> String {
        let export = try await doors.gateway.bearing(token).get("/api/v1/users/me/export")
        return (export["user"] as? [String: Any])?["password_changed_at"] as? String ?? ""
      }
      let before = try await changed(signedUp.string("token"))
      doors.stack.clock.advance(by: .seconds(3600))
      let signIn = ["email": "alice@example.com", "password": "correct horse"]
      let signedIn = try await doors.gateway.post("/api/v1/auth/sign_in", signIn)
      #expect(signedIn.status == 200)
      #expect(try await changed(signedIn.string("token")) == before && !before.isEmpty)
      // A password that is changed is another matter.
      let change = ["current_password": "correct horse", "password": "a new horse"]
      let here = doors.gateway.bearing(signedIn.string("token"))
      #expect(try await here.send(.PUT, "/api/v1/users/profile/password", json: change).status == 200)
      #expect(try await changed(signedIn.string("token")) > before)
    }
  }
}
