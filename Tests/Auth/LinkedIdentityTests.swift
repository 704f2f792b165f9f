import Database
import Foundation
import Support
import Testing

/// Identities that are added to an account and removed from it.
@Suite struct LinkedIdentityTests {
  private static let path = "/api/v1/auth/identities"

  private func providers(_ browser: Browser) async throws -> [String] {
    let list = try await browser.get(Self.path)["identities"] as? [[String: Any]] ?? []
    return list.compactMap { $0["provider"] as? String }.sorted()
  }

  @Test(arguments: engines) func numberAddressAndAppleAreAddedToOneAccount(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let alice = auth.gateway.bearing(try await auth.signUp("alice").string("token"))
      #expect(try await providers(alice) == ["email"])
      #expect(try await alice.post("\(Self.path)/phone", ["phone_number": "+4790123456"]).status == 200)
      let code = try await auth.code(texted: "+4790123456")
      let phone = ["phone_number": "+4790123456", "code": code]
      // The code is hers: it signs nobody in, and adds the number to no other account.
      let bob = auth.gateway.bearing(try await auth.signUp("bob").string("token"))
      #expect(try await bob.post("\(Self.path)/phone/confirm", phone).status == 400)
      #expect(try await auth.gateway.post("/api/auth/verify", phone).status == 400)
      #expect(try await alice.post("\(Self.path)/phone/confirm", phone).status == 200)
      #expect(try await alice.post("\(Self.path)/email", ["email": "second@example.com"]).status == 200)
      let message = try await auth.receivedMail(to: "second@example.com")
      let email = ["email": "second@example.com", "code": message.code]
      #expect(try await alice.post("\(Self.path)/email/confirm", email).status == 200)
      let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now)
      #expect(try await alice.post("\(Self.path)/apple", ["id_token": token]).status == 200)
      #expect(try await providers(alice).filter { $0 != "email" } == ["apple", "phone"])
      // Every identity leads to her account.
      let id = try await alice.get("/api/v1/auth/me").string("id")
      let apple = try await auth.gateway.post("/api/v1/auth/apple", ["identity_token": token])
      #expect((apple["user"] as? [String: Any])?["uuid"] as? String == id)
      _ = try await auth.gateway.post("/api/auth/request-verification", ["phone_number": "+4790123456"])
      let next = try await auth.code(texted: "+4790123456", after: 1)
      let called = try await auth.gateway.post(
        "/api/auth/verify", ["phone_number": "+4790123456", "code": next])
      #expect((called["user"] as? [String: Any])?["id"] as? String == id)
    }
  }

  @Test(arguments: engines) func whatIsAnothersIsRefusedAndNothingIsMerged(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now)
      _ = try await auth.gateway.post("/api/v1/auth/apple", ["identity_token": token])
      let alice = auth.gateway.bearing(try await auth.signUp("alice").string("token"))
      let reply = try await alice.post("\(Self.path)/apple", ["id_token": token])
      #expect(reply.status == 409 && reply.string("code") == "identity_taken")
      #expect(try await providers(alice) == ["email"])
      // Both request a code for the same number; the first to confirm it gets it.
      let bob = auth.gateway.bearing(try await auth.signUp("bob").string("token"))
      var codes: [String] = []
      for (index, browser) in [alice, bob].enumerated() {
        #expect(try await browser.post("\(Self.path)/phone", ["phone_number": "+4790123456"]).status == 200)
        codes.append(try await auth.code(texted: "+4790123456", after: index))
      }
      let statuses = try await atOnce(2) { [codes] index in
        try await [alice, bob][index].post(
          "\(Self.path)/phone/confirm", ["phone_number": "+4790123456", "code": codes[index]]
        ).status
      }
      #expect(statuses.sorted() == [200, 409])
    }
  }

  @Test(arguments: engines) func theLastIdentityStays(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let alice = auth.gateway.bearing(try await auth.signUp("alice").string("token"))
      let only = try await alice.delete("\(Self.path)/email")
      #expect(only.status == 409 && only.string("code") == "last_identity", "\(only.text)")
      #expect(try await alice.delete("\(Self.path)/phone").status == 404)
      let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now, changing: ["email": nil])
      #expect(try await alice.post("\(Self.path)/apple", ["id_token": token]).status == 200)
      // Two concurrent removals, each of which would leave the other identity.
      let statuses = try await atOnce(8) { index in
        try await alice.delete("\(Self.path)/\(index % 2 == 0 ? "email" : "apple")").status
      }
      #expect(statuses.filter { $0 == 204 }.count == 1)
      #expect(try await providers(alice).count == 1)
    }
  }
}
