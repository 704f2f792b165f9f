import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Whose an address is, and who sees it: nobody shows one that has become somebody else's.
@Suite struct AddressTests {
  private func verify(_ doors: Doors, _ address: String) async throws -> Browser.Reply {
    let before = doors.letters(to: address)
    #expect(try await doors.gateway.post("/auth/v1/otp", ["email": address]).status == 200)
    let letter = try await doors.letter(to: address, after: before)
    return try await doors.gateway.post(
      "/auth/v1/verify", ["type": "email", "email": address, "token": letter.code])
  }

  private func id(_ reply: Browser.Reply) -> String { (reply["user"] as? [String: Any])?["id"] as? String ?? "" }

  @Test(arguments: engines) func whoLosesAnAddressShowsItNoMore(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let mallory = try await doors.signUp("victim")
      _ = try await doors.letter(to: "victim@example.com")
      let number = try #require((mallory["user"] as? [String: Any])?["uuid"] as? String)
      let claimer = doors.gateway.bearing(mallory.string("token"))
      #expect(try await claimer.get("/api/v1/auth/me").string("email") == "victim@example.com")
      let victim = try await verify(doors, "victim@example.com")
      #expect(victim.status == 200 && id(victim) != number)
      #expect(try await claimer.get("/api/v1/auth/me")["email"] is NSNull)
      let users = UsersClient(in: doors.stack.surroundings(of: "lists"))
      let loser = try #require(UserID(number))
      #expect(try await users.people([loser])[loser]?.email == nil)
      #expect(try await users.person(named: "victim@example.com")?.id.description == id(victim))
      // What else is theirs is shown instead.
      let again = try await doors.gateway.post(
        "/api/v1/auth/sign_up", ["email": "first@example.com", "password": "correct horse"])
      let bob = doors.gateway.bearing(again.string("token"))
      _ = try await doors.letter(to: "first@example.com")
      #expect(try await bob.post("/api/v1/auth/identities/email", ["email": "second@example.com"]).status == 200)
      let code = try await doors.letter(to: "second@example.com").code
      let added = try await bob.post(
        "/api/v1/auth/identities/email/confirm", ["email": "second@example.com", "code": code])
      #expect(added.status == 200)
      #expect(try await verify(doors, "first@example.com").status == 200)
      #expect(try await bob.get("/api/v1/auth/me").string("email") == "second@example.com")
    }
  }

  @Test(arguments: engines) func anAddressThatIsOnlySaidOfSomebodyIsNotShown(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withDoors(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { doors in
        #expect(try await verify(doors, "alice@example.com").status == 200)
        let told: [String: (any Sendable)?] = ["email": "Alice@example.com", "email_verified": false]
        let token = try issuer.token("a stranger", at: doors.stack.clock.now, changing: told)
        #expect(try await doors.gateway.bearing(token).get("/api/v1/auth/me")["email"] is NSNull)
        // An outside system's word is shown until somebody shows that the address is theirs.
        let system = doors.gateway.with(doors.stack.with(key: "sync+act"))
        for (name, shown) in [("alice", nil), ("bob", "Bob@example.com")] {
          let resolved = try await system.post(
            "/api/v1/users/resolve", ["external_id": "crm-\(name)", "email": "\(name.capitalized)@example.com"])
          let me = try await system.with(["X-User-ID": resolved.string("user_id")]).get("/api/v1/auth/me")
          #expect(me.status == 200 && me["email"] as? String == shown)
        }
        #expect(try await verify(doors, "bob@example.com").status == 200)
        let resolved = try await system.with(["X-User-ID": "crm-bob"]).get("/api/v1/auth/me")
        #expect(resolved.status == 200 && resolved["email"] is NSNull)
      }
    }
  }

  @Test(arguments: engines) func aResetGivesTheAddressToWhoReadsItsMailAndToNobodyElse(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let mallory = try await doors.signUp("victim")
      _ = try await doors.letter(to: "victim@example.com")
      let hers = doors.gateway.bearing(mallory.string("token"))
      #expect(try await hers.post("/api/v1/auth/identities/phone", ["phone_number": "+4790123456"]).status == 200)
      let phone = ["phone_number": "+4790123456", "code": try await doors.code(texted: "+4790123456")]
      #expect(try await hers.post("/api/v1/auth/identities/phone/confirm", phone).status == 200)
      // The victim has never signed up, but must have: the address is known.
      #expect(try await doors.gateway.post("/api/v1/auth/password", ["email": "victim@example.com"]).status == 200)
      let letter = try await doors.letter(to: "victim@example.com", after: 1)
      let change = ["email": "victim@example.com", "token": letter.code, "password": "my own horse"]
      #expect(try await doors.gateway.send(.PUT, "/api/v1/auth/password", json: change).status == 200)
      let victim = try await doors.gateway.post(
        "/api/v1/auth/sign_in", ["email": "victim@example.com", "password": "my own horse"])
      #expect(victim.status == 200)
      // Mallory's number leads to Mallory's account, where nothing of the victim's is.
      _ = try await doors.gateway.post("/api/auth/request-verification", ["phone_number": "+4790123456"])
      let code = try await doors.code(texted: "+4790123456", after: 1)
      let back = try await doors.gateway.post("/api/auth/verify", ["phone_number": "+4790123456", "code": code])
      #expect(back.status == 200)
      #expect(id(back) != (victim["user"] as? [String: Any])?["uuid"] as? String)
      let me = try await doors.gateway.bearing(back.string("access_token")).get("/api/v1/auth/me")
      #expect(me["email"] is NSNull)
      let old = ["email": "victim@example.com", "password": "correct horse"]
      #expect(try await doors.gateway.post("/api/v1/auth/sign_in", old).status == 401)
    }
  }

  @Test(arguments: engines) func onlyWhoHasVerifiedAnAddressIsFoundAsItsReader(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let claimed = try await doors.signUp("alice")
      let users = UsersClient(in: doors.stack.surroundings(of: "invites"))
      #expect(try await users.person(named: "alice@example.com") == nil)
      #expect(try await users.person(reading: "alice@example.com") == nil)
      let letter = try await doors.letter(to: "alice@example.com")
      let confirmed = try await doors.gateway.bearing(claimed.string("token")).post(
        "/auth/v1/verify", ["type": "signup", "email": "alice@example.com", "token": letter.code])
      #expect(confirmed.status == 200)
      let reader = try await users.person(reading: "Alice@Example.com")?.id.description
      #expect(reader == (claimed["user"] as? [String: Any])?["uuid"] as? String)
      #expect(try await users.person(reading: "nobody@example.com") == nil)
    }
  }
}
