import Crypto
import Database
import Foundation
import Support
import Testing

/// What a mail's link may do, and for whom.
@Suite struct LinkTests {
  private static let path = "/api/v1/auth/identities"

  private func press(_ doors: Doors, _ token: String) async throws -> Browser.Reply {
    try await doors.gateway.with(["Content-Type": "application/x-www-form-urlencoded"])
      .send(.POST, "/auth/v1/verify", body: Data("token_hash=\(token)".utf8))
  }

  /// Alice has mistyped her second address, and a stranger reads the mail.
  private func mistyped(_ doors: Doors) async throws -> Browser {
    let alice = doors.gateway.bearing(try await doors.signUp("alice").string("token"))
    #expect(try await alice.post("\(Self.path)/email", ["email": "stranger@example.com"]).status == 200)
    return alice
  }

  @Test(arguments: engines, ["", "myapp://signed-in"])
  func whoReadsAMailThatAddsAnAddressGetsNothingOfTheAccount(engine: Engine, redirects: String) async throws {
    try await withDoors(engine, ["AUTH_REDIRECTS": redirects]) { doors in
      let alice = try await mistyped(doors)
      let letter = try await doors.letter(to: "stranger@example.com")
      #expect(letter.code.count == 6 && letter.link.isEmpty)
      let sessions = try await doors.count("session")
      for type in ["email", "signup", "email_change", "magiclink"] {
        let reply = try await doors.gateway.post(
          "/auth/v1/verify", ["type": type, "email": "stranger@example.com", "token": letter.code])
        #expect(reply.status == 403 || reply.status == 401, "\(type): \(reply.text)")
      }
      #expect(try await doors.count("session") == sessions)
      #expect(try await doors.count("identity where subject = 'stranger@example.com'") == 0)
      // With the code, at her own account, it is hers.
      let confirm = ["email": "stranger@example.com", "code": letter.code]
      #expect(try await alice.post("\(Self.path)/email/confirm", confirm).status == 200)
    }
  }

  @Test(arguments: engines) func aLinkOfAnOlderMailThatAddsAnAddressIsStale(engine: Engine) async throws {
    try await withDoors(engine, ["AUTH_REDIRECTS": "myapp://signed-in"]) { doors in
      let alice = try await mistyped(doors)
      // As mails once were.
      let hash = Array(SHA256.hash(data: Data("a-link".utf8)))
      let database = try await doors.stack.place.open("auth", [])
      let changed = try await database.write { db in
        try db.change("update challenge set token_hash = \(hash) where kind = 'add_email'")
      }
      await database.close()
      #expect(changed == 1)
      #expect(try await alice.delete("/api/v1/auth/account").status == 200)
      let sessions = try await doors.count("session")
      #expect(try await doors.gateway.get("/auth/v1/verify?token_hash=a-link").status == 410)
      #expect(try await press(doors, "a-link").status == 410)
      #expect(try await doors.gateway.post("/auth/v1/verify", ["token_hash": "a-link"]).status == 403)
      #expect(try await doors.count("session") == sessions)
      #expect(try await doors.count("account where deactivated_at is null") == 0)
      #expect(try await doors.count("identity where subject = 'stranger@example.com'") == 0)
    }
  }

  @Test(arguments: engines) func anOldMailOfWhoOnlyClaimedAnAddressOpensNothingOfTheirs(engine: Engine) async throws {
    try await withDoors(engine, ["AUTH_REDIRECTS": "myapp://signed-in"]) { doors in
      let mallory = doors.gateway.bearing(try await doors.signUp("victim").string("token"))
      let confirmation = try await doors.letter(to: "victim@example.com")
      #expect(try await doors.gateway.post("/auth/v1/otp", ["email": "victim@example.com"]).status == 200)
      let letter = try await doors.letter(to: "victim@example.com", after: 1)
      let verified = try await doors.gateway.post(
        "/auth/v1/verify", ["type": "email", "email": "victim@example.com", "token": letter.code])
      #expect(verified.status == 200)
      #expect(try await mallory.delete("/api/v1/auth/account").status == 200)
      let sessions = try await doors.count("session")
      let token = confirmation.link.components(separatedBy: "token_hash=").last ?? ""
      #expect(try await press(doors, token).status == 410)
      #expect(try await doors.count("session") == sessions)
      #expect(try await doors.count("account where deactivated_at is null") == 1)
    }
  }

  @Test func theButtonWorksWhereAProjectsKeyIsAskedFor() async throws {
    try await withDoors(.sqlite, ["API_KEYS": "a key", "AUTH_REDIRECTS": "myapp://signed-in"]) { doors in
      let app = doors.gateway.with(["apikey": "a key"])
      #expect(try await app.post("/auth/v1/otp", ["email": "alice@example.com"]).status == 200)
      let letter = try await doors.letter(to: "alice@example.com")
      let token = letter.link.components(separatedBy: "token_hash=").last ?? ""
      // A browser knows no key; an app has to show one.
      #expect(try await doors.gateway.post("/auth/v1/verify", ["token_hash": token]).status == 401)
      #expect(try await doors.gateway.get("/auth/v1/verify?token_hash=\(token)").status == 200)
      #expect(try await press(doors, token).status == 303)
      let form = doors.gateway.with(["Content-Type": "application/x-www-form-urlencoded"])
      for path in ["signup", "otp", "recover", "token?grant_type=password"] {
        let reply = try await form.send(.POST, "/auth/v1/\(path)", body: Data("email=a@b.example".utf8))
        #expect(reply.status == 415, "\(path)")
      }
    }
  }

  @Test func aFormOrABodyThatIsTooLargeIsRefusedByAuthItself() async throws {
    try await withDoors(.sqlite) { doors in
      let form = doors.stack.auth.with(["Content-Type": "application/x-www-form-urlencoded"])
      let large = Data(repeating: UInt8(ascii: "x"), count: 70_000)
      #expect(try await form.send(.POST, "/auth/v1/verify", body: large).status == 413)
      let body = try JSONSerialization.data(withJSONObject: ["email": String(repeating: "x", count: 70_000)])
      #expect(try await doors.stack.auth.send(.POST, "/api/v1/auth/password", body: body).status == 413)
    }
  }
}
