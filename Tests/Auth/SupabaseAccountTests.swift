import Crypto
import Database
import Foundation
import Support
import Testing

/// Account changes of signed-in users, requested as supabase-swift does.
@Suite struct SupabaseAccountTests {
  typealias Session = SupabaseSwift.Session
  typealias User = SupabaseSwift.User

  // MARK: Passwords

  @Test(arguments: engines) func anOldSessionChangesThePasswordOnlyWithACode(engine: Engine) async throws {
    try await withAuthFixture(engine, ["JWT_ACCESS_EXPIRE_MINUTES": "1440"]) { auth in
      let app = SupabaseApp(auth.gateway)
      let first = try await app.signUp("alice")
      _ = try await auth.receivedMail(to: "alice@example.com")
      let other = try await app.signIn("alice@example.com", "correct horse")
      auth.stack.clock.advance(by: .seconds(24 * 3600 + 1))
      let refreshed = try await app.call(
        .POST, "token?grant_type=refresh_token", ["refresh_token": first.refreshToken], as: Session.self)
      let alice = app.signedIn(refreshed)
      let change: [String: any Sendable] = ["password": "another horse", "data": ["team": "red"]]
      let needed = try await alice.refusal(.PUT, "user", change)
      #expect(needed.status == 400 && needed.code == "reauthentication_needed")
      // The response does not reveal the current password.
      #expect(try await alice.refusal(.PUT, "user", ["password": "correct horse"]).code == "reauthentication_needed")
      _ = try await alice.call(.GET, "reauthenticate", as: SupabaseSwift.EmptyBody.self)
      let message = try await auth.receivedMail(to: "alice@example.com", after: 1)
      #expect(message.link.isEmpty)
      let wrong = message.code == "000000" ? "000001" : "000000"
      let refused = try await alice.refusal(.PUT, "user", change.merging(["nonce": wrong]) { $1 })
      #expect(refused.status == 422 && refused.code == "reauthentication_not_valid")
      // A sign-in code cannot be used to reauthenticate, nor the other way round.
      let signIn = ["type": "email", "email": "alice@example.com", "token": message.code]
      #expect(try await app.refusal(.POST, "verify", signIn).code == "otp_expired")
      let right = change.merging(["nonce": message.code]) { $1 }
      let outcomes = try await atOnce(5) { _ in try await alice.send(.PUT, "user", right).status }
      #expect(outcomes.filter { $0 == 200 }.count == 1, "\(outcomes)")
      #expect(try await alice.call(.GET, "user", as: User.self).userMetadata?["team"] == .string("red"))
      #expect(try await app.signIn("alice@example.com", "another horse").user.id == first.user.id)
      // All other sessions have ended.
      let body = ["refresh_token": other.refreshToken]
      #expect(try await app.refusal(.POST, "token?grant_type=refresh_token", body).code == "refresh_token_not_found")
    }
  }

  @Test(arguments: engines) func aFreshSessionChangesThePasswordByItself(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let alice = app.signedIn(try await app.signUp("alice"))
      auth.stack.clock.advance(by: .seconds(1800))
      #expect(try await alice.refusal(.PUT, "user", ["password": "correct horse"]).code == "same_password")
      _ = try await alice.call(.PUT, "user", ["password": "another horse"], as: User.self)
      _ = try await app.signIn("alice@example.com", "another horse")
    }
  }

  @Test(arguments: engines) func whoHasNoAddressIsSentNothing(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let nobody = app.signedIn(try await app.call(.POST, "signup", [:], as: Session.self))
      #expect(try await nobody.refusal(.GET, "reauthenticate").status == 422)
    }
  }

  // MARK: Apple

  @Test(arguments: engines) func appleIsAddedToTheAccountOfTheBearerAndToNoOther(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let alice = try await app.signUp("alice")
      let nonce = SHA256.hash(data: Data("raw".utf8)).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
      let token = try auth.stack.apple.identityToken(nonceHash: nonce, at: auth.stack.clock.now)
      let link: [String: any Sendable] = [
        "provider": "apple", "id_token": token, "nonce": "raw", "link_identity": true,
      ]
      // Without a signed-in user no account is created, and none is signed in to.
      let accounts = try await auth.count("account")
      #expect(try await app.refusal(.POST, "token?grant_type=id_token", link).status == 401)
      #expect(try await auth.count("account") == accounts)
      let hers = app.signedIn(alice)
      for _ in 0..<2 {
        let linked = try await hers.call(.POST, "token?grant_type=id_token", link, as: Session.self)
        #expect(linked.user.id == alice.user.id)
        #expect(Set(linked.user.identities?.map(\.provider) ?? []) == ["apple", "email"])
        #expect(Set(linked.user.identities?.compactMap(\.identityId) ?? []).count == linked.user.identities?.count)
      }
      let bob = app.signedIn(try await app.signUp("bob"))
      let taken = try await bob.refusal(.POST, "token?grant_type=id_token", link)
      #expect(taken.status == 409 && taken.code == "identity_already_exists")
      // Without `link_identity` the bearer is ignored: Apple's user signs in.
      let plain = link.filter { $0.key != "link_identity" }
      let signedIn = try await bob.call(.POST, "token?grant_type=id_token", plain, as: Session.self)
      #expect(signedIn.user.id == alice.user.id)
    }
  }

  // MARK: Anonymous sign-ins

  @Test func whereItIsNotAllowedNobodySignsInAsNobody() async throws {
    for settings in [["ANONYMOUS_SIGN_INS": "false"], ["ENVIRONMENT": "staging"]] {
      try await withAuthFixture(.sqlite, settings) { auth in
        let refusal = try await SupabaseApp(auth.gateway).refusal(.POST, "signup", ["data": [String: String]()])
        #expect(refusal.status == 422 && refusal.code == "anonymous_provider_disabled", "\(settings)")
        #expect(try await auth.count("account") == 0)
      }
    }
    try await withAuthFixture(.sqlite, ["ENVIRONMENT": "staging", "ANONYMOUS_SIGN_INS": "true"]) { auth in
      _ = try await SupabaseApp(auth.gateway).call(.POST, "signup", [:], as: Session.self)
    }
  }

  // MARK: Keys

  @Test func whatSignsTokensIsPublishedWhereTheLibraryLooks() async throws {
    try await withAuthFixture(.sqlite, ["API_KEYS": "a key"]) { auth in
      let here = try await auth.gateway.get("/auth/v1/.well-known/jwks.json")
      let there = try await auth.gateway.get("/.well-known/jwks.json")
      #expect(here.status == 200 && here.text == there.text)
      #expect(here.headers.first(name: "cache-control") == "public, max-age=60")
    }
  }
}
