import Database
import Foundation
import Support
import Testing

/// Requesting a mail takes the same work whether or not the address has an account, so that the response time does not
/// show it.
@Suite struct AccountEnumerationTests {
  /// The number of challenges, outbox messages and quotas.
  private func rowCounts(_ auth: AuthFixture) async throws -> [Int] {
    var counts: [Int] = []
    for table in ["challenge", "outbox", "quota"] { counts.append(try await auth.count(table)) }
    return counts
  }

  @Test(
    arguments: engines,
    [
      ("/api/v1/auth/password", [:]), ("/auth/v1/recover", [:]), ("/auth/v1/otp", ["create_user": false]),
    ] as [(String, [String: Bool])])
  func anUnknownAddressIsAsMuchWorkAsAKnownOne(engine: Engine, call: (path: String, more: [String: Bool])) async throws
  {
    try await withAuthFixture(engine) { auth in
      let alice = auth.gateway.bearing(try await auth.signUp("alice").string("token"))
      // Confirmed, as an address that is only claimed belongs to no account yet.
      let code = try await auth.receivedMail(to: "alice@example.com").code
      let confirmed = ["type": "signup", "email": "alice@example.com", "token": code]
      #expect(try await alice.post("/auth/v1/verify", confirmed).status == 200)
      @Sendable func ask(_ address: String) async throws -> [Int] {
        let before = try await rowCounts(auth)
        var body: [String: any Sendable] = ["email": address]
        for (name, value) in call.more { body[name] = value }
        #expect(try await auth.gateway.post(call.path, body).status == 200)
        return zip(try await rowCounts(auth), before).map { $0 - $1 }
      }
      // The first call creates the client address's quota.
      _ = try await ask("somebody@example.com")
      #expect(try await ask("nobody@example.com") == [1, 1, 1])
      // The quota of her address exists since the mail of the sign-up.
      #expect(try await ask("alice@example.com") == [1, 1, 0])
      _ = try await auth.receivedMail(to: "alice@example.com", after: 1)
      // The withheld messages were processed and not sent.
      try await eventually("the end") { try await auth.count("outbox where outcome = 'done'") == 4 }
      #expect(auth.mailCount(to: "nobody@example.com") == 0 && auth.mailCount(to: "somebody@example.com") == 0)
    }
  }

  @Test(arguments: engines) func signingInChangesNoPassword(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let signedUp = try await auth.signUp("alice")
      @Sendable func changed(_ token: String) async throws -> String {
        let export = try await auth.gateway.bearing(token).get("/api/v1/users/me/export")
        return (export["user"] as? [String: Any])?["password_changed_at"] as? String ?? ""
      }
      let before = try await changed(signedUp.string("token"))
      auth.stack.clock.advance(by: .seconds(3600))
      let signIn = ["email": "alice@example.com", "password": "correct horse"]
      let signedIn = try await auth.gateway.post("/api/v1/auth/sign_in", signIn)
      #expect(signedIn.status == 200)
      #expect(try await changed(signedIn.string("token")) == before && !before.isEmpty)
      // Changing the password does change the time.
      let change = ["current_password": "correct horse", "password": "a new horse"]
      let here = auth.gateway.bearing(signedIn.string("token"))
      #expect(try await here.send(.PUT, "/api/v1/users/profile/password", json: change).status == 200)
      #expect(try await changed(signedIn.string("token")) > before)
    }
  }
}
