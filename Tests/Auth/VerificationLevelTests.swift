import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Which users count as proven.
@Suite struct VerificationLevelTests {
  private func isProven(_ stack: TestStack, _ user: UserID) async throws -> Bool {
    let users = UsersClient(in: stack.dependencies(of: "groups"))
    let person = try #require(try await users.people([user])[user])
    let profile = try #require(try await users.profile(of: user))
    #expect(person.isProven == profile.isProven)
    return person.isProven
  }

  private func id(_ reply: Browser.Reply) throws -> UserID {
    let user = reply["user"] as? [String: Any]
    return try #require(UserID((user?["uuid"] ?? user?["id"]) as? String ?? ""))
  }

  @Test(arguments: engines) func aClaimedAddressProvesNothingUntilItIsConfirmed(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let users = UsersClient(in: auth.stack.dependencies(of: "lists"))
      let signedUp = try await auth.signUp("alice")
      let alice = try id(signedUp)
      #expect(try await !isProven(auth.stack, alice))
      #expect(try await users.person(named: "alice@example.com") == nil)
      await #expect(throws: Failure.notProven) { try await users.requireProven(alice) }
      let message = try await auth.receivedMail(to: "alice@example.com")
      let confirmed = try await auth.gateway.bearing(signedUp.string("token")).post(
        "/auth/v1/verify", ["type": "signup", "email": "alice@example.com", "token": message.code])
      #expect(confirmed.status == 200)
      #expect(try await isProven(auth.stack, alice))
      #expect(try await users.person(named: "Alice@Example.com")?.id == alice)
      try await users.requireProven(alice)
    }
  }

  @Test(arguments: engines) func whereNoMailGoesAClaimHasToDo(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let users = UsersClient(in: stack.dependencies(of: "lists"))
      let alice = try id(
        try await stack.gateway.post(
          "/api/v1/auth/sign_up", ["email": "alice@example.com", "password": "correct horse"]))
      #expect(try await isProven(stack, alice))
      #expect(try await users.person(named: "alice@example.com")?.id == alice)
      let nobody = try await stack.gateway.post("/auth/v1/signup")
      #expect(try await !isProven(stack, try id(nobody)))
    }
  }

  @Test(arguments: engines) func everyoneWhoVouchesForAUserProvesThem(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let stack = auth.stack
      #expect(try await isProven(stack, try await stack.signIn("alice").id))
      let token = try stack.apple.identityToken(at: stack.clock.now, changing: ["email": nil, "email_verified": nil])
      #expect(
        try await isProven(stack, try id(try await auth.gateway.post("/api/v1/auth/apple", ["id_token": token]))))
      let resolved = try await UsersClient(in: stack.dependencies(of: "lists")).resolve(.init(externalID: "auth0|1"))
      #expect(try await isProven(stack, resolved.userID))
      _ = try await auth.gateway.post("/api/auth/verify", ["phone_number": "+4790123456"])
      let code = try await auth.code(texted: "+4790123456")
      let called = try await auth.gateway.post("/api/auth/verify", ["phone_number": "+4790123456", "code": code])
      #expect(try await isProven(stack, try id(called)))
      // Nobody is found by a phone number, however it is written.
      let users = UsersClient(in: stack.dependencies(of: "lists"))
      for name in ["+4790123456", "4790123456", " +4790123456"] {
        #expect(try await users.person(named: name) == nil, "\(name)")
      }
      #expect(try await users.people(withPhones: ["+4790123456"]).count == 1)
    }
  }

  @Test(arguments: engines) func anIdentityThatIsAddedProvesWhoWasAnonymous(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let reply = try await auth.gateway.post("/auth/v1/signup")
      let (nobody, here) = (try id(reply), auth.gateway.bearing(reply.string("access_token")))
      #expect(try await !isProven(auth.stack, nobody))
      let path = "/api/v1/auth/identities/phone"
      #expect(try await here.post(path, ["phone_number": "+4790123456"]).status == 200)
      #expect(try await !isProven(auth.stack, nobody))
      let code = try await auth.code(texted: "+4790123456")
      #expect(try await here.post("\(path)/confirm", ["phone_number": "+4790123456", "code": code]).status == 200)
      #expect(try await isProven(auth.stack, nobody))
    }
  }
}
