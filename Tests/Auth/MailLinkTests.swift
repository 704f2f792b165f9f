import Crypto
import Database
import Foundation
import Support
import Testing

/// What a mailed link can be used for, and by whom.
@Suite struct MailLinkTests {
  private static let path = "/api/v1/auth/identities"

  /// Alice has mistyped her second address, and a stranger reads the mail.
  private func addMistypedAddress(_ auth: AuthFixture) async throws -> Browser {
    let alice = auth.gateway.bearing(try await auth.signUp("alice").string("token"))
    #expect(try await alice.post("\(Self.path)/email", ["email": "stranger@example.com"]).status == 200)
    return alice
  }

  @Test(arguments: engines, ["", "myapp://signed-in"])
  func whoReadsAMailThatAddsAnAddressGetsNothingOfTheAccount(engine: Engine, redirects: String) async throws {
    try await withAuthFixture(engine, ["AUTH_REDIRECTS": redirects]) { auth in
      let alice = try await addMistypedAddress(auth)
      let message = try await auth.receivedMail(to: "stranger@example.com")
      #expect(message.code.count == 6 && message.link.isEmpty)
      let sessions = try await auth.count("session")
      for type in ["email", "signup", "email_change", "magiclink"] {
        let reply = try await auth.gateway.post(
          "/auth/v1/verify", ["type": type, "email": "stranger@example.com", "token": message.code])
        #expect(reply.status == 403 || reply.status == 401, "\(type): \(reply.text)")
      }
      #expect(try await auth.count("session") == sessions)
      #expect(try await auth.count("identity where subject = 'stranger@example.com'") == 0)
      // Entered with her own bearer, the code adds the address to her account.
      let confirm = ["email": "stranger@example.com", "code": message.code]
      #expect(try await alice.post("\(Self.path)/email/confirm", confirm).status == 200)
    }
  }

  @Test(arguments: engines) func aLinkOfAnOlderMailThatAddsAnAddressIsStale(engine: Engine) async throws {
    try await withAuthFixture(engine, ["AUTH_REDIRECTS": "myapp://signed-in"]) { auth in
      let alice = try await addMistypedAddress(auth)
      // Earlier versions mailed such links.
      let hash = Array(SHA256.hash(data: Data("a-link".utf8)))
      let database = try await auth.stack.testDatabase.open("auth", [])
      let changed = try await database.write { db in
        try db.change("update challenge set token_hash = \(hash) where kind = 'add_email'")
      }
      await database.close()
      #expect(changed == 1)
      #expect(try await alice.delete("/api/v1/auth/account").status == 200)
      let sessions = try await auth.count("session")
      #expect(try await auth.gateway.get("/auth/v1/verify?token_hash=a-link").status == 410)
      #expect(try await auth.submitLink("a-link").status == 410)
      #expect(try await auth.gateway.post("/auth/v1/verify", ["token_hash": "a-link"]).status == 403)
      #expect(try await auth.count("session") == sessions)
      #expect(try await auth.count("account where deactivated_at is null") == 0)
      #expect(try await auth.count("identity where subject = 'stranger@example.com'") == 0)
    }
  }

  @Test(arguments: engines) func anOldMailOfWhoOnlyClaimedAnAddressOpensNothingOfTheirs(engine: Engine) async throws {
    try await withAuthFixture(engine, ["AUTH_REDIRECTS": "myapp://signed-in"]) { auth in
      let mallory = auth.gateway.bearing(try await auth.signUp("victim").string("token"))
      let confirmation = try await auth.receivedMail(to: "victim@example.com")
      #expect(try await auth.gateway.post("/auth/v1/otp", ["email": "victim@example.com"]).status == 200)
      let message = try await auth.receivedMail(to: "victim@example.com", after: 1)
      let verified = try await auth.gateway.post(
        "/auth/v1/verify", ["type": "email", "email": "victim@example.com", "token": message.code])
      #expect(verified.status == 200)
      #expect(try await mallory.delete("/api/v1/auth/account").status == 200)
      let sessions = try await auth.count("session")
      #expect(try await auth.submitLink(confirmation.link).status == 410)
      #expect(try await auth.count("session") == sessions)
      #expect(try await auth.count("account where deactivated_at is null") == 1)
    }
  }

  @Test func theButtonWorksWhereAProjectsKeyIsAskedFor() async throws {
    try await withAuthFixture(.sqlite, ["API_KEYS": "a key", "AUTH_REDIRECTS": "myapp://signed-in"]) { auth in
      let app = auth.gateway.with(["apikey": "a key"])
      #expect(try await app.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 200)
      let message = try await auth.receivedMail(to: "alice@example.com")
      let token = AuthFixture.token(of: message.link)
      // A browser has no API key; an app must send one.
      #expect(try await auth.gateway.post("/auth/v1/verify", ["token_hash": token]).status == 401)
      #expect(try await auth.gateway.get("/auth/v1/verify?token_hash=\(token)").status == 200)
      #expect(try await auth.submitLink(token).status == 303)
      let form = auth.gateway.with(["Content-Type": "application/x-www-form-urlencoded"])
      for path in ["signup", "otp", "recover", "token?grant_type=password"] {
        let reply = try await form.send(.POST, "/auth/v1/\(path)", body: Data("email=a@b.example".utf8))
        #expect(reply.status == 415, "\(path)")
      }
    }
  }

  @Test func aFormOrABodyThatIsTooLargeIsRefusedByAuthItself() async throws {
    try await withAuthFixture(.sqlite) { auth in
      let form = auth.stack.auth.with(["Content-Type": "application/x-www-form-urlencoded"])
      let large = Data(repeating: UInt8(ascii: "x"), count: 70_000)
      #expect(try await form.send(.POST, "/auth/v1/verify", body: large).status == 413)
      let body = try JSONSerialization.data(withJSONObject: ["email": String(repeating: "x", count: 70_000)])
      #expect(try await auth.stack.auth.send(.POST, "/api/v1/auth/password", body: body).status == 413)
    }
  }
}
