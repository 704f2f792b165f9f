import Crypto
import Database
import Foundation
import Support
import Testing

/// What those who are signed in change of their account, as supabase-swift asks for it.
@Suite struct SupabaseAccountTests {
  typealias Session = SupabaseSwift.Session
  typealias User = SupabaseSwift.User

  // MARK: Passwords

  @Test(arguments: engines) func anOldSessionChangesThePasswordOnlyWithACode(engine: Engine) async throws {
    try await withDoors(engine, ["JWT_ACCESS_EXPIRE_MINUTES": "1440"]) { doors in
      let app = SupabaseApp(doors.gateway)
      let first = try await app.signUp("alice")
      _ = try await doors.letter(to: "alice@example.com")
      let other = try await app.signIn("alice@example.com", "correct horse")
      doors.stack.clock.advance(by: .seconds(24 * 3600 + 1))
      let refreshed = try await app.call(
        .POST, "token?grant_type=refresh_token", ["refresh_token": first.refreshToken], as: Session.self)
      let alice = app.signedIn(refreshed)
      let change: [String: any Sendable] = ["password": "another horse", "data": ["team": "red"]]
      let needed = try await alice.refusal(.PUT, "user", change)
      #expect(needed.status == 400 && needed.code == "reauthentication_needed")
      // Nor is anything said of the password that there is.
      #expect(try await alice.refusal(.PUT, "user", ["password": "correct horse"]).code == "reauthentication_needed")
      _ = try await alice.call(.GET, "reauthenticate", as: SupabaseSwift.Nothing.self)
      let letter = try await doors.letter(to: "alice@example.com", after: 1)
      #expect(letter.link.isEmpty)
      let wrong = letter.code == "000000" ? "000001" : "000000"
      let refused = try await alice.refusal(.PUT, "user", change.merging(["nonce": wrong]) { $1 })
      #expect(refused.status == 422 && refused.code == "reauthentication_not_valid")
      // A code to sign in with is none for this, and this is none to sign in with.
      let signIn = ["type": "email", "email": "alice@example.com", "token": letter.code]
      #expect(try await app.refusal(.POST, "verify", signIn).code == "otp_expired")
      let right = change.merging(["nonce": letter.code]) { $1 }
      let outcomes = try await atOnce(5) { _ in try await alice.send(.PUT, "user", right).status }
      #expect(outcomes.filter { $0 == 200 }.count == 1, "\(outcomes)")
      #expect(try await alice.call(.GET, "user", as: User.self).userMetadata?["team"] == .string("red"))
      #expect(try await app.signIn("alice@example.com", "another horse").user.id == first.user.id)
      // All other sessions are over.
      let body = ["refresh_token": other.refreshToken]
      #expect(try await app.refusal(.POST, "token?grant_type=refresh_token", body).code == "refresh_token_not_found")
    }
  }

  @Test(arguments: engines) func aFreshSessionChangesThePasswordByItself(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let app = SupabaseApp(doors.gateway)
      let alice = app.signedIn(try await app.signUp("alice"))
      doors.stack.clock.advance(by: .seconds(1800))
      #expect(try await alice.refusal(.PUT, "user", ["password": "correct horse"]).code == "same_password")
      _ = try await alice.call(.PUT, "user", ["password": "another horse"], as: User.self)
      _ = try await app.signIn("alice@example.com", "another horse")
    }
  }

  @Test(arguments: engines) func whoHasNoAddressIsSentNothing(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let app = SupabaseApp(doors.gateway)
      let nobody = app.signedIn(try await app.call(.POST, "signup", [:], as: Session.self))
      #expect(try await nobody.refusal(.GET, "reauthenticate").status == 422)
    }
  }

  // MARK: Apple

  @Test(arguments: engines) func appleIsAddedToTheAccountOfTheBearerAndToNoOther(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let app = SupabaseApp(doors.gateway)
      let alice = try await app.signUp("alice")
      let nonce = SHA256.hash(data: Data("raw".utf8)).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
      let token = try doors.stack.apple.identityToken(nonceHash: nonce, at: doors.stack.clock.now)
      let link: [String: any Sendable] = [
        "provider": "apple", "id_token": token, "nonce": "raw", "link_identity": true,
      ]
      // Nobody is signed in: no account is made, and none is swapped for another.
      let accounts = try await doors.count("account")
      #expect(try await app.refusal(.POST, "token?grant_type=id_token", link).status == 401)
      #expect(try await doors.count("account") == accounts)
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
      // Without the word a bearer says nothing: Apple's user is who signs in.
      let plain = link.filter { $0.key != "link_identity" }
      let signedIn = try await bob.call(.POST, "token?grant_type=id_token", plain, as: Session.self)
      #expect(signedIn.user.id == alice.user.id)
    }
  }

  // MARK: As nobody yet

  @Test func whereItIsNotAllowedNobodySignsInAsNobody() async throws {
    for settings in [["ANONYMOUS_SIGN_INS": "false"], ["ENVIRONMENT": "staging"]] {
      try await withDoors(.sqlite, settings) { doors in
        let refusal = try await SupabaseApp(doors.gateway).refusal(.POST, "signup", ["data": [String: String]()])
        #expect(refusal.status == 422 && refusal.code == "anonymous_provider_disabled", "\(settings)")
        #expect(try await doors.count("account") == 0)
      }
    }
    try await withDoors(.sqlite, ["ENVIRONMENT": "staging", "ANONYMOUS_SIGN_INS": "true"]) { doors in
      _ = try await SupabaseApp(doors.gateway).call(.POST, "signup", [:], as: Session.self)
    }
  }

  // MARK: Keys

  @Test func whatSignsTokensIsPublishedWhereTheLibraryLooks() async throws {
    try await withDoors(.sqlite, ["API_KEYS": "a key"]) { doors in
      let here = try await doors.gateway.get("/auth/v1/.well-known/jwks.json")
      let there = try await doors.gateway.get("/.well-known/jwks.json")
      #expect(here.status == 200 && here.text == there.text)
      #expect(here.headers.first(name: "cache-control") == "public, max-age=60")
    }
  }
}
