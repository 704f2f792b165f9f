import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Which account an e-mail address belongs to, and which one displays it. No account displays an address of another
/// one.
@Suite struct EmailOwnershipTests {
  private func verify(_ auth: AuthFixture, _ address: String) async throws -> Browser.Reply {
    let before = auth.mailCount(to: address)
    #expect(try await auth.gateway.post("/auth/v1/otp", ["email": address]).status == 200)
    let message = try await auth.receivedMail(to: address, after: before)
    return try await auth.gateway.post(
      "/auth/v1/verify", ["type": "email", "email": address, "token": message.code])
  }

  private func id(_ reply: Browser.Reply) -> String { (reply["user"] as? [String: Any])?["id"] as? String ?? "" }

  @Test(arguments: engines) func whoLosesAnAddressShowsItNoMore(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let mallory = try await auth.signUp("victim")
      _ = try await auth.receivedMail(to: "victim@example.com")
      let number = try #require((mallory["user"] as? [String: Any])?["uuid"] as? String)
      let claimer = auth.gateway.bearing(mallory.string("token"))
      #expect(try await claimer.get("/api/v1/auth/me").string("email") == "victim@example.com")
      let victim = try await verify(auth, "victim@example.com")
      #expect(victim.status == 200 && id(victim) != number)
      #expect(try await claimer.get("/api/v1/auth/me")["email"] is NSNull)
      let users = UsersClient(in: auth.stack.dependencies(of: "lists"))
      let loser = try #require(UserID(number))
      #expect(try await users.people([loser])[loser]?.email == nil)
      #expect(try await users.person(named: "victim@example.com")?.id.description == id(victim))
      // Another address of the account is displayed instead.
      let again = try await auth.gateway.post(
        "/api/v1/auth/sign_up", ["email": "first@example.com", "password": "correct horse"])
      let bob = auth.gateway.bearing(again.string("token"))
      _ = try await auth.receivedMail(to: "first@example.com")
      #expect(try await bob.post("/api/v1/auth/identities/email", ["email": "second@example.com"]).status == 200)
      let code = try await auth.receivedMail(to: "second@example.com").code
      let added = try await bob.post(
        "/api/v1/auth/identities/email/confirm", ["email": "second@example.com", "code": code])
      #expect(added.status == 200)
      #expect(try await verify(auth, "first@example.com").status == 200)
      #expect(try await bob.get("/api/v1/auth/me").string("email") == "second@example.com")
    }
  }

  @Test(arguments: engines) func anAddressThatIsOnlySaidOfSomebodyIsNotShown(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withAuthFixture(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { auth in
        #expect(try await verify(auth, "alice@example.com").status == 200)
        let claims: [String: (any Sendable)?] = ["email": "Alice@example.com", "email_verified": false]
        let token = try issuer.token("a stranger", at: auth.stack.clock.now, changing: claims)
        #expect(try await auth.gateway.bearing(token).get("/api/v1/auth/me")["email"] is NSNull)
        // The address from an external system is displayed until another account has verified it.
        let system = auth.gateway.with(auth.stack.with(key: "sync+act"))
        for (name, shown) in [("alice", nil), ("bob", "Bob@example.com")] {
          let resolved = try await system.post(
            "/api/v1/users/resolve", ["external_id": "crm-\(name)", "email": "\(name.capitalized)@example.com"])
          let me = try await system.with(["X-User-ID": resolved.string("user_id")]).get("/api/v1/auth/me")
          #expect(me.status == 200 && me["email"] as? String == shown)
        }
        #expect(try await verify(auth, "bob@example.com").status == 200)
        let resolved = try await system.with(["X-User-ID": "crm-bob"]).get("/api/v1/auth/me")
        #expect(resolved.status == 200 && resolved["email"] is NSNull)
      }
    }
  }

  @Test(arguments: engines) func aResetGivesTheAddressToWhoReadsItsMailAndToNobodyElse(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let mallory = try await auth.signUp("victim")
      _ = try await auth.receivedMail(to: "victim@example.com")
      let hers = auth.gateway.bearing(mallory.string("token"))
      #expect(try await hers.post("/api/v1/auth/identities/phone", ["phone_number": "+4790123456"]).status == 200)
      let phone = ["phone_number": "+4790123456", "code": try await auth.code(texted: "+4790123456")]
      #expect(try await hers.post("/api/v1/auth/identities/phone/confirm", phone).status == 200)
      // The victim has not signed up; the address is known all the same.
      #expect(try await auth.gateway.post("/api/v1/auth/password", ["email": "victim@example.com"]).status == 200)
      let message = try await auth.receivedMail(to: "victim@example.com", after: 1)
      let change = ["email": "victim@example.com", "token": message.code, "password": "my own horse"]
      #expect(try await auth.gateway.send(.PUT, "/api/v1/auth/password", json: change).status == 200)
      let victim = try await auth.gateway.post(
        "/api/v1/auth/sign_in", ["email": "victim@example.com", "password": "my own horse"])
      #expect(victim.status == 200)
      // Mallory's number leads to Mallory's account, which has nothing of the victim's.
      _ = try await auth.gateway.post("/api/auth/request-verification", ["phone_number": "+4790123456"])
      let code = try await auth.code(texted: "+4790123456", after: 1)
      let back = try await auth.gateway.post("/api/auth/verify", ["phone_number": "+4790123456", "code": code])
      #expect(back.status == 200)
      #expect(id(back) != (victim["user"] as? [String: Any])?["uuid"] as? String)
      let me = try await auth.gateway.bearing(back.string("access_token")).get("/api/v1/auth/me")
      #expect(me["email"] is NSNull)
      let old = ["email": "victim@example.com", "password": "correct horse"]
      #expect(try await auth.gateway.post("/api/v1/auth/sign_in", old).status == 401)
    }
  }

  @Test(arguments: engines) func onlyWhoHasVerifiedAnAddressIsFoundByIt(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let claimed = try await auth.signUp("alice")
      let users = UsersClient(in: auth.stack.dependencies(of: "invites"))
      #expect(try await users.person(named: "alice@example.com") == nil)
      let message = try await auth.receivedMail(to: "alice@example.com")
      let confirmed = try await auth.gateway.bearing(claimed.string("token")).post(
        "/auth/v1/verify", ["type": "signup", "email": "alice@example.com", "token": message.code])
      #expect(confirmed.status == 200)
      let reader = try await users.person(named: "Alice@Example.com")?.id.description
      #expect(reader == (claimed["user"] as? [String: Any])?["uuid"] as? String)
      #expect(try await users.person(named: "nobody@example.com") == nil)
    }
  }
}
