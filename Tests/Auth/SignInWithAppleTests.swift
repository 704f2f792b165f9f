import Clients
import Crypto
import Database
import Foundation
import Support
import Testing

/// Sign in with Apple against a key server on loopback that signs with real RSA keys.
@Suite struct SignInWithAppleTests {
  private func hash(_ nonce: String) -> String {
    SHA256.hash(data: Data(nonce.utf8)).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
  }

  @Test(arguments: engines) func thePersonIsTheSameNextTime(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let token = try stack.apple.identityToken(at: stack.clock.now)
      let first = try await stack.gateway.post(
        "/api/v1/auth/apple", ["identity_token": token, "name": "Alice Liddell"])
      #expect(first.status == 200)
      #expect(first.string("token_type") == "bearer")
      #expect(first.int("expires_in") == 900)
      #expect(first.string("token") == first.string("access_token"))
      let user = try #require(first["user"] as? [String: Any])
      #expect(user["email"] as? String == "alice@privaterelay.appleid.com")
      #expect(user["display_name"] as? String == "Alice Liddell")

      // Apple sends e-mail and name only once: they stay.
      let again = try stack.apple.identityToken(
        at: stack.clock.now, changing: ["email": nil, "email_verified": nil, "is_private_email": nil])
      let second = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": again])
      let same = try #require(second["user"] as? [String: Any])
      #expect(same["uuid"] as? String == user["uuid"] as? String)
      #expect(same["email"] as? String == "alice@privaterelay.appleid.com")
      #expect(same["display_name"] as? String == "Alice Liddell")

      let bob = try stack.apple.identityToken(subject: "005678.bob", at: stack.clock.now)
      let other = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": bob])
      #expect((other["user"] as? [String: Any])?["uuid"] as? String != user["uuid"] as? String)
    }
  }

  @Test(arguments: engines) func anAddressThatBothSidesHaveVerifiedIsOnePerson(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let claimed = try await stack.signIn("alice")
      func signIn(_ subject: String, verified: Bool) async throws -> String? {
        let token = try stack.apple.identityToken(
          subject: subject, at: stack.clock.now,
          changing: ["email": "Alice@example.com", "email_verified": verified])
        let reply = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": token])
        return (reply["user"] as? [String: Any])?["uuid"] as? String
      }
      let unverified = try await signIn("000.stranger", verified: false)
      #expect(unverified != claimed.id.description)
      let users = UsersClient(in: stack.dependencies(of: "lists"))
      #expect(try await users.person(named: "alice@example.com")?.id == claimed.id)
      // Verifying an address takes it from the account that has only claimed it.
      let verified = try await signIn("001.alice", verified: true)
      #expect(verified != claimed.id.description && verified != unverified)
      #expect(try await users.person(named: "alice@example.com")?.id.description == verified)
      // Another subject of the same issuer is another user.
      #expect(try await signIn("002.alice", verified: true) != verified)
      #expect(try await users.person(named: "alice@example.com")?.id.description == verified)
    }
  }

  @Test func bothIssuersAndBothAppsAndBothFormsAreServed() async throws {
    try await withStack(.sqlite) { stack in
      let now = stack.clock.now
      var ids: Set<String> = []
      for changes in [
        [:], ["iss": "https://account.apple.com"], ["aud": "com.example.other"],
        ["email_verified": true, "is_private_email": "false"],
      ] as [[String: any Sendable]] {
        let token = try stack.apple.identityToken(at: now, changing: changes)
        let reply = try await stack.gateway.post(
          "/api/v1/auth/apple", ["id_token": token, "name": ["givenName": "Alice", "familyName": "L"]])
        #expect(reply.status == 200)
        ids.insert((reply["user"] as? [String: Any])?["uuid"] as? String ?? "")
      }
      #expect(ids.count == 1)
    }
  }

  private func sign(_ stack: TestStack, _ nonce: String?, tokenNonce: String?) async throws -> Int {
    let token = try stack.apple.identityToken(nonceHash: tokenNonce.map(hash), at: stack.clock.now)
    var body: [String: any Sendable] = ["id_token": token]
    body["nonce"] = nonce
    return try await stack.gateway.post("/api/v1/auth/apple", body).status
  }

  @Test func nonceAndTokenBelongTogether() async throws {
    try await withStack(.sqlite) { stack in
      let matching = try await sign(stack, "n-1", tokenNonce: "n-1")
      #expect(matching == 200)
      #expect(try await sign(stack, "n-2", tokenNonce: "n-1") == 401)
      #expect(try await sign(stack, nil, tokenNonce: "n-1") == 401)
      #expect(try await sign(stack, "n-1", tokenNonce: nil) == 401)
    }
  }

  @Test func whatAppleDidNotSayIsRefused() async throws {
    try await withStack(.sqlite) { stack in
      let now = stack.clock.now
      let seconds = Int(now.timeIntervalSince1970)
      let good = try stack.apple.identityToken(at: now)
      #expect(try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": good]).status == 200)
      let wrong: [[String: (any Sendable)?]] = [
        ["iss": "https://evil.example"], ["iss": "https://appleid.apple.com/"], ["aud": "com.example.stranger"],
        ["aud": nil], ["exp": seconds - 1], ["iat": seconds + 120], ["sub": ""], ["sub": nil], ["exp": nil],
        ["aud": ["com.example.kith"]],
      ]
      for changes in wrong {
        let token = try stack.apple.identityToken(at: now, changing: changes)
        let reply = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": token])
        #expect(reply.status == 401, "\(changes)")
        #expect(reply.string("code") == "invalid_apple_token")
      }
      let heads: [[String: any Sendable]] = [
        ["alg": "none"], ["alg": "HS256"], ["kid": "unknown"], ["crit": ["exp"]], ["typ": "dpop+jwt"],
      ]
      for head in heads {
        let token = try stack.apple.identityToken(at: now, head: head)
        #expect(try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": token]).status == 401, "\(head)")
      }
      #expect(try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": good + "x"]).status == 401)
    }
  }

  @Test func aNewKeyOfApplesIsFoundAndALostServerDoesNotMatter() async throws {
    try await withStack(.sqlite) { stack in
      let first = try await sign(stack, nil, tokenNonce: nil)
      #expect(first == 200)
      stack.apple.setDown()
      #expect(try await sign(stack, nil, tokenNonce: nil) == 200)
      #expect(stack.apple.fetches == 1)
    }
    try await withStack(.sqlite) { stack in
      stack.apple.setDown()
      let token = try stack.apple.identityToken(at: stack.clock.now)
      let reply = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": token])
      #expect(reply.status == 503)
      #expect(reply.string("code") == "apple_unavailable")
      #expect(reply.headers.first(name: "retry-after") != nil)
      stack.apple.setDown(false)
      try stack.apple.rotate(to: "key-2")
      try await Task.sleep(for: .milliseconds(1100))
      let later = try stack.apple.identityToken(at: stack.clock.now)
      #expect(try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": later]).status == 200)
    }
  }

  @Test func withoutABundleIDThereIsNoAppleSignIn() async throws {
    try await withStack(.sqlite, ["APPLE_BUNDLE_ID": ""]) { stack in
      let token = try stack.apple.identityToken(at: stack.clock.now)
      let reply = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": token])
      #expect(reply.status == 503)
      #expect(reply.string("code") == "apple_not_configured")
    }
  }

  @Test func badBodiesAreNamed() async throws {
    try await withStack(.sqlite) { stack in
      let missing = try await stack.gateway.post("/api/v1/auth/apple")
      #expect(missing.status == 422)
      #expect((missing["errors"] as? [[String: String]])?.first?["field"] == "identity_token")
      let number = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": 7])
      #expect(number.status == 422)
      #expect(number.string("detail") == "identity_token must be a string")
      #expect(try await stack.gateway.send(.POST, "/api/v1/auth/apple", body: Data("{".utf8)).status == 400)
    }
  }
}
