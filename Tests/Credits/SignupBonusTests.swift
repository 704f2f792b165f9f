import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Signup credits are granted once, to users who have verified an e-mail address or phone number.
@Suite struct SignupBonusTests {
  /// With a mail server, an address has to be verified.
  private func withMail(_ engine: Engine, _ body: (TestStack, MailServer) async throws -> Void) async throws {
    try await withMailServer(.none) { mail in
      try await withStack(engine, mail.settings) { stack in try await body(stack, mail) }
    }
  }

  private struct NewUser {
    let id: UserID
    let browser: Browser
    let address: String
  }

  private func signUp(_ name: String, _ stack: TestStack) async throws -> NewUser {
    let address = "\(name)@example.com"
    let reply = try await stack.gateway.post(
      "/api/v1/auth/sign_up", ["email": address, "password": "correct horse"])
    let id = try #require(UserID((reply["user"] as? [String: Any])?["uuid"] as? String ?? ""))
    return NewUser(id: id, browser: stack.gateway.bearing(reply.string("token")), address: address)
  }

  private func confirm(_ user: NewUser, _ stack: TestStack, _ mail: MailServer) async throws {
    try await eventually("the mail") { mail.messages.contains { $0.to == [user.address] } }
    let text = mail.messages.last { $0.to == [user.address] }?.part("text/plain") ?? ""
    let code = text.firstMatch(of: /\b\d{6}\b/).map { String($0.output) } ?? ""
    let reply = try await user.browser.post(
      "/auth/v1/verify", ["type": "signup", "email": user.address, "token": code])
    #expect(reply.status == 200)
  }

  private func history(_ browser: Browser) async throws -> [String?] {
    try await browser.get("/api/v1/credits/history").list.map { $0["type"] as? String }
  }

  @Test(arguments: engines) func whoHasProvenNothingHasNoneUntilTheyHave(engine: Engine) async throws {
    try await withMail(engine) { stack, mail in
      let credits = CreditsClient(in: stack.dependencies(of: "invites"))
      let alice = try await signUp("alice", stack)
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 0)
      #expect(try await history(alice.browser) == [])
      await #expect(throws: Failure.insufficientCredits(cost: 1)) {
        _ = try await credits.spend(.init(userID: alice.id, cost: 1))
      }
      // A grant works for her all the same.
      #expect(try await credits.grant(.init(userID: alice.id, amount: 7)).balanceAfter == 7)
      try await confirm(alice, stack, mail)
      // Many requests of every kind at the same time.
      let balances = try await atOnce(30) { index in
        switch index % 3 {
        case 0: try await alice.browser.get("/api/v1/credits/balance").int("balance") ?? -1
        case 1: try await credits.check(alice.id, cost: 57).balance
        default:
          try await credits.spend(.init(userID: alice.id, cost: 57, idempotencyKey: "look")).balanceAfter ?? -1
        }
      }
      #expect(Set(balances).isSubset(of: [57, 0]))
      #expect(try await history(alice.browser) == ["generation", "signup_bonus", "admin_grant"])
    }
  }

  @Test(arguments: engines) func aSpendIsALookToo(engine: Engine) async throws {
    try await withMail(engine) { stack, mail in
      let credits = CreditsClient(in: stack.dependencies(of: "invites"))
      let alice = try await signUp("alice", stack)
      #expect(try await credits.check(alice.id, cost: 1) == CreditCheck(sufficient: false, balance: 0))
      try await confirm(alice, stack, mail)
      #expect(try await credits.spend(.init(userID: alice.id, cost: 50)).balanceAfter == 0)
    }
  }

  @Test(arguments: engines) func nobodyAndWhoOnlyClaimsGetNothingHoweverManyTheyAre(engine: Engine) async throws {
    try await withMail(engine) { stack, _ in
      let tokens = try await atOnce(10) { _ in
        try await stack.gateway.post("/auth/v1/signup").string("access_token")
      }
      for token in tokens {
        #expect(try await stack.gateway.bearing(token).get("/api/v1/credits/balance").int("balance") == 0)
      }
      #expect(try await stack.signIn("bob").browser.get("/api/v1/credits/balance").int("balance") == 50)
    }
  }

  /// Users whose credits are settled need no call to auth, so it may be down; others keep their balance until it is
  /// back.
  @Test(arguments: engines) func whileAuthIsAwayEverybodyHasWhatTheyHad(engine: Engine) async throws {
    try await withMail(engine) { stack, mail in
      let (alice, bob) = (try await signUp("alice", stack), try await stack.signIn("bob"))
      let carol = try await signUp("carol", stack)
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 0)
      #expect(try await bob.browser.get("/api/v1/credits/balance").int("balance") == 50)
      try await confirm(alice, stack, mail)
      try await confirm(carol, stack, mail)
      let url = stack.auth.base
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      for (browser, balance) in [(alice.browser, 0), (bob.browser, 50), (carol.browser, 0)] {
        let reply = try await browser.get("/api/v1/credits/balance")
        #expect(reply.status == 200 && reply.int("balance") == balance)
      }
      stack.dependencies.serviceAddresses.set(.auth, to: url)
      for browser in [alice.browser, carol.browser] {
        // Auth is not called for some seconds after a call without an answer.
        try await eventually("the welcome") { try await browser.get("/api/v1/credits/balance").int("balance") == 50 }
        #expect(try await history(browser) == ["signup_bonus"])
      }
    }
  }

  /// Accounts that are older than the verification have had their signup credits.
  @Test(arguments: engines) func whoseCreditsWereGivenBeforeGetsNoMore(engine: Engine) async throws {
    try await withMail(engine) { stack, mail in
      let alice = try await signUp("alice", stack)
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 0)
      let database = try await stack.testDatabase.open("credits", [])
      // The state that the migration sets.
      try await database.write { db in try db.change("update ledger_account set is_welcomed = true where kind = 'user'")
      }
      await database.close()
      try await confirm(alice, stack, mail)
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 0)
    }
  }
}
