import Database
import Foundation
import Support
import Testing

/// Every endpoint that accepts an identity token of Apple's: the grant is stored there, and revoked when Apple is
/// unlinked.
@Suite struct AppleEndpointTests {
  private enum Endpoint: String, CaseIterable {
    case main = "/api/v1/auth/apple"
    case signIn = "/auth/v1/signin/apple"
    case token = "/auth/v1/token?grant_type=id_token"
    case linking = "/api/v1/auth/identities/apple"
  }

  private static let identities = "/api/v1/auth/identities"

  /// Signs in or links with a code that Apple has issued.
  private func signIn(
    _ auth: AuthFixture, _ apple: AppleServer, _ endpoint: Endpoint = .linking, code: String = "code",
    as browser: Browser? = nil, changing changes: [String: (any Sendable)?] = [:], nonce: String? = nil
  ) async throws -> Browser.Reply {
    let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now, changing: changes)
    apple.allow(code, for: token)
    var body = ["id_token": token, "authorization_code": code]
    body["nonce"] = nonce
    return try await (browser ?? auth.gateway).post(endpoint.rawValue, body)
  }

  private func withApple(
    _ engine: Engine, _ body: (AuthFixture, AppleServer) async throws -> Void
  ) async throws {
    try await withAppleServer { apple in
      try await withAuthFixture(engine, apple.settings) { auth in try await body(auth, apple) }
    }
  }

  private func signedUp(_ auth: AuthFixture) async throws -> Browser {
    auth.gateway.bearing(try await auth.signUp("alice").string("token"))
  }

  @Test(arguments: engines) func whatIsGrantedIsStoredAtEveryEndpoint(engine: Engine) async throws {
    try await withApple(engine) { auth, apple in
      let alice = try await signedUp(auth)
      for (index, endpoint) in Endpoint.allCases.enumerated() {
        let person = "person \(index)"
        let claims: [String: (any Sendable)?] = ["sub": person, "email": nil, "aud": "com.example.other"]
        // A token with another nonce is refused before its code is exchanged.
        let asked = apple.requestCount
        let wrong = try await signIn(auth, apple, endpoint, as: alice, changing: claims, nonce: "not in the token")
        #expect(wrong.status == 401 && apple.requestCount == asked, "\(endpoint)")
        let reply = try await signIn(auth, apple, endpoint, as: alice, changing: claims)
        #expect(reply.status == 200, "\(endpoint): \(reply.text)")
        let stored = "apple_token where subject = '\(person)' and app = 'com.example.other'"
        #expect(try await auth.count(stored) == 1, "\(endpoint)")
        #expect(apple.calls(to: "/auth/token").last?.form["client_id"] == "com.example.other")
      }
      #expect(try await auth.count("apple_token") == 4)
    }
  }

  @Test(arguments: engines) func unlinkingGivesItBack(engine: Engine) async throws {
    try await withApple(engine) { auth, apple in
      let alice = try await signedUp(auth)
      #expect(try await signIn(auth, apple, as: alice).status == 200)
      #expect(
        try await signIn(auth, apple, code: "other", as: alice, changing: ["aud": "com.example.other"]).status == 200)
      #expect(try await auth.count("apple_token") == 2)
      #expect(try await alice.delete("\(Self.identities)/apple").status == 204)
      try await eventually("the end") { try await auth.count("apple_token") == 0 }
      #expect(
        apple.calls(to: "/auth/revoke").map { $0.form["token"] } == ["refresh+token/1", "refresh+token/2"])
      // The relay's address was removed with it, her own was not; she is still signed in.
      let list = try await alice.get(Self.identities)["identities"] as? [[String: Any]] ?? []
      #expect(list.compactMap { $0["email"] as? String } == ["alice@example.com"])
      // Without a grant there is nothing to revoke.
      #expect(try await alice.post("\(Self.identities)/apple", ["id_token": token(auth)]).status == 200)
      #expect(try await alice.delete("\(Self.identities)/apple").status == 204)
      #expect(try await auth.count("outbox where kind = 'apple_unlinked'") == 1)
    }
  }

  private func token(_ auth: AuthFixture) throws -> String {
    try auth.stack.apple.identityToken(at: auth.stack.clock.now)
  }

  @Test(arguments: engines) func appleMayBeAwayMeanwhileAndWhatIsGrantedAnewStays(engine: Engine) async throws {
    try await withApple(engine) { auth, apple in
      let alice = try await signedUp(auth)
      for code in ["com.example.kith", "com.example.other"] {
        #expect(try await signIn(auth, apple, code: code, as: alice, changing: ["aud": code]).status == 200)
      }
      apple.behavior = .answering(503, "")
      #expect(try await alice.delete("\(Self.identities)/apple").status == 204)
      try await eventually("tries") {
        auth.stack.clock.advance(by: .seconds(5))
        return try await auth.count("outbox where kind = 'apple_unlinked' and tries > 1") == 1
      }
      #expect(try await auth.count("apple_token") == 2)
      // She links Apple again before the old grant of the same app was revoked: the new one stays.
      apple.behavior = .normal
      #expect(try await signIn(auth, apple, code: "again", as: alice).status == 200)
      try await eventually("the end", passing: .seconds(20), on: auth.stack.clock) {
        try await auth.count("outbox where lease is not null")
      } _: {
        try await auth.count("outbox where kind = 'apple_unlinked' and outcome = 'done'") == 1
      }
      #expect(apple.calls(to: "/auth/revoke").map { $0.form["client_id"] }.contains("com.example.other"))
      #expect(try await auth.count("apple_token where app = 'com.example.other'") == 0)
      #expect(apple.calls(to: "/auth/revoke").map { $0.form["token"] }.contains("refresh+token/3") == false)
      #expect(try await auth.count("apple_token where app = 'com.example.kith'") == 1)
    }
  }

  @Test(arguments: engines) func theRelayIsNoIdentityWithoutApple(engine: Engine) async throws {
    try await withApple(engine) { auth, apple in
      let reply = try await signIn(auth, apple, .main)
      let alice = auth.gateway.bearing(reply.string("access_token"))
      let only = try await alice.delete("\(Self.identities)/apple")
      #expect(only.status == 409 && only.string("code") == "last_identity")
      #expect(try await auth.count("apple_token") == 1)
      #expect(try await auth.count("outbox") == 0)
    }
  }
}
